// Which code levels this CPU can run. A level's name is what the manifest and
// `--isa` say; the table in the .cpp lists what each needs.

#ifndef QUIRE_RUNTIME_ENGINE_ISALEVEL_H
#define QUIRE_RUNTIME_ENGINE_ISALEVEL_H

#include <string_view>

namespace quire {

/// False for an unknown level.
bool cpuSupportsIsa(std::string_view level);

/// The best level this CPU has: "avx512", "avx2" or "portable".
std::string_view bestIsaOfCpu();

} // namespace quire

#endif
