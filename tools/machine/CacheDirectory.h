// Where compiled engines and this machine's profile are kept:
// $XDG_CACHE_HOME/quire, by default ~/.cache/quire.

#ifndef QUIRE_TOOLS_MACHINE_CACHEDIRECTORY_H
#define QUIRE_TOOLS_MACHINE_CACHEDIRECTORY_H

#include "absl/status/statusor.h"

#include <filesystem>

namespace quire {

/// Made if it was not there. An error says what to set instead.
absl::StatusOr<std::filesystem::path> cacheDirectory();

} // namespace quire

#endif
