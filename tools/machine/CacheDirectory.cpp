#include "tools/machine/CacheDirectory.h"

#include "frontends/formats/StrCat.h"

#include <cstdlib>

namespace fs = std::filesystem;

namespace quire {

absl::StatusOr<fs::path> cacheDirectory() {
  const char *xdg = std::getenv("XDG_CACHE_HOME");
  const char *home = std::getenv("HOME");
  fs::path base;
  if (xdg && *xdg == '/') {
    base = xdg;
  } else if (home && *home) {
    base = fs::path(home) / ".cache";
  } else {
    return absl::FailedPreconditionError(
        "there is no place for the engine cache: set XDG_CACHE_HOME or HOME, "
        "or compile with quire compile");
  }
  fs::path directory = base / "quire";
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    return absl::UnavailableError(
        strCat("cannot create the cache directory ", directory.string(), ": ",
               error.message(), "; set XDG_CACHE_HOME to one that works"));
  }
  return directory;
}

} // namespace quire
