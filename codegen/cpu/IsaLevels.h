// The ISA levels code is generated for. The names are the manifest's and the
// runtime's; the runtime's own table says what a CPU needs to run each.

#ifndef QUIRE_CODEGEN_CPU_ISALEVELS_H
#define QUIRE_CODEGEN_CPU_ISALEVELS_H

#include <span>
#include <string_view>

namespace quire {

struct IsaLevel {
  std::string_view name;
  std::string_view cpu;      // as LLVM calls it
  std::string_view features; // beyond the cpu's
};

/// Best first.
std::span<const IsaLevel> isaLevels();

/// Null for an unknown name.
const IsaLevel *findIsaLevel(std::string_view name);

} // namespace quire

#endif
