// From the step's LLVM IR to a shared object of one ISA level: the kernels'
// bitcode is linked in, everything but the entry points made internal,
// specialised by inlining, optimised and handed to lld, which is linked into
// this program. Each call works in an LLVM context of its own, so that levels
// compile in parallel.

#ifndef QUIRE_CODEGEN_CPU_COMPILECODE_H
#define QUIRE_CODEGEN_CPU_COMPILECODE_H

#include "absl/status/statusor.h"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

/// The ISA levels that kernels are compiled for, best first. What a CPU needs
/// to run each is the runtime's table.
inline constexpr std::array<std::string_view, 3> kIsaLevels = {"avx512", "avx2",
                                                               "portable"};

struct CodeRequest {
  std::string_view level;             // one of kIsaLevels
  std::span<const std::byte> step;    // bitcode of the emitted module
  std::span<const std::byte> kernels; // bitcode of the level's kernels
  std::string objectPath;             // of the shared object to write
};

struct CodeStage {
  std::string name; // "link kernels", "optimise", "emit object", "lld"
  double seconds;
};

/// Writes `request.objectPath`; a failure may leave a partial file there.
absl::StatusOr<std::vector<CodeStage>> compileCode(const CodeRequest &request);

/// lld as a library: links one relocatable object into a shared object. Calls
/// are serialised, as lld keeps its state in globals.
absl::Status linkSharedObject(const std::string &relocatable,
                              const std::string &sharedObject);

} // namespace quire

#endif
