// From the step's LLVM IR to a shared object of one ISA level: the kernels'
// bitcode is linked in, everything but the entry points made internal,
// specialised by inlining, optimised and handed to lld, which is linked into
// this program. Each call works in an LLVM context of its own, so that levels
// compile in parallel.

#ifndef QUIRE_CODEGEN_CPU_COMPILECODE_H
#define QUIRE_CODEGEN_CPU_COMPILECODE_H

#include "absl/status/statusor.h"
#include "codegen/cpu/kernels/IsaLevel.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace quire {

struct CodeRequest {
  cpu::IsaLevel level;
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
