// Engines compiled on demand. A checkpoint given where an engine is needed is
// compiled once into $XDG_CACHE_HOME/quire (default ~/.cache/quire) and found
// again by a key over the files (path, size, time, header), the options, the
// machine and its profile, and the compiler. Processes that want the same
// engine at the same time wait for the one that compiles it. Nothing is ever
// deleted here but a cached engine that turned out broken.

#ifndef QUIRE_TOOLS_CLI_ENGINECACHE_H
#define QUIRE_TOOLS_CLI_ENGINECACHE_H

#include "absl/status/statusor.h"
#include "tools/machine/MachineProfileFile.h"

#include <string>
#include <vector>

namespace quire::cli {

struct CacheRequest {
  std::string model;                // a checkpoint's path
  std::vector<std::string> options; // for the compiler, "--kv", "f32", ...
  bool replace = false;             // what is there is broken
};

/// The engine's directory, compiled if it was not there.
absl::StatusOr<std::string> cachedEngine(const CacheRequest &request);

/// Sixteen hexadecimal digits that name the engine. Reads little: the first
/// bytes of each file.
absl::StatusOr<std::string> cacheKey(const CacheRequest &request,
                                     const MachineChoice &machine);

} // namespace quire::cli

#endif
