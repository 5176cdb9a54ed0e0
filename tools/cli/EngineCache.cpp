#include "tools/cli/EngineCache.h"

#include "absl/strings/str_format.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "runtime/engine/EngineDirectory.h"
#include "runtime/engine/IsaLevel.h"
#include "runtime/engine/ManifestFile.h"
#include "runtime/engine/StatusMacros.h"
#include "tools/cli/CheckpointFiles.h"
#include "tools/cli/Compiler.h"
#include "tools/cli/Interrupt.h"
#include "tools/cli/Report.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace fs = std::filesystem;

namespace quire::cli {

namespace {

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

/// Held while an engine is compiled; given back when the process ends, however
/// it ends.
class FileLock {
public:
  static absl::StatusOr<FileLock> take(const fs::path &path) {
    FileLock lock;
    lock.file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock.file < 0) {
      return absl::UnavailableError(
          strCat("cannot write ", path.string(), ": ", std::strerror(errno)));
    }
    if (::flock(lock.file, LOCK_EX | LOCK_NB) == 0) {
      return lock;
    }
    note("another process is compiling this model; waiting for it");
    while (::flock(lock.file, LOCK_EX) != 0) {
      if (errno != EINTR) {
        return absl::UnavailableError(
            strCat("cannot lock ", path.string(), ": ", std::strerror(errno)));
      }
      if (interrupted()) {
        return interruptedError();
      }
    }
    return lock;
  }
  FileLock(FileLock &&other) noexcept : file(std::exchange(other.file, -1)) {}
  ~FileLock() {
    if (file >= 0) {
      ::close(file);
    }
  }

private:
  FileLock() = default;
  int file = -1;
};

/// The compiler as it is now: its version, and which build of it.
std::string compilerStamp() {
  std::string stamp = QUIRE_VERSION;
  absl::StatusOr<std::string> program = findCompiler();
  if (program.ok()) {
    absl::StatusOr<std::string> build = describeFile(*program, 0);
    strAppend(stamp, " ", build.ok() ? *build : "");
  }
  return stamp;
}

/// What of the machine decides how a model is compiled.
std::string machineStamp() {
  return strCat(bestIsaOfCpu(), " ", std::thread::hardware_concurrency());
}

std::string stemOf(const std::string &model) {
  fs::path path = fs::path(model).lexically_normal();
  std::string stem = path.has_filename()
                         ? path.stem().string()
                         : path.parent_path().filename().string();
  for (char &c : stem) {
    bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '-' ||
                 c == '.' || c == '_';
    c = plain ? c : '_';
  }
  return stem.substr(0, 60);
}

} // namespace

absl::StatusOr<std::string> cacheKey(const CacheRequest &request) {
  QUIRE_ASSIGN_OR_RETURN(std::vector<std::string> files,
                         checkpointFiles(request.model));
  constexpr int64_t kHeaderBytes = 1 << 18;
  std::string text;
  for (const std::string &file : files) {
    QUIRE_ASSIGN_OR_RETURN(std::string description,
                           describeFile(file, kHeaderBytes));
    strAppend(text, file, "\n", description, "\n");
  }
  for (const std::string &option : request.options) {
    strAppend(text, option, "\n");
  }
  strAppend(text, machineStamp(), "\n", compilerStamp());
  return absl::StrFormat("%016x", contentHash(std::as_bytes(std::span(text))));
}

absl::StatusOr<std::string> cachedEngine(const CacheRequest &request) {
  QUIRE_ASSIGN_OR_RETURN(std::string key, cacheKey(request));
  QUIRE_ASSIGN_OR_RETURN(fs::path cache, cacheDirectory());
  fs::path engine = cache / strCat(stemOf(request.model), "-", key);
  if (!request.replace && EngineDirectory::looksLikeEngine(engine.string())) {
    return engine.string();
  }
  QUIRE_ASSIGN_OR_RETURN(FileLock lock,
                         FileLock::take(strCat(engine.string(), ".lock")));
  if (!request.replace && EngineDirectory::looksLikeEngine(engine.string())) {
    return engine.string();
  }
  QUIRE_RETURN_IF_ERROR(findCompiler().status());
  note(strCat("compiling ", printable(request.model), " into the cache, ",
              engine.string()));
  std::vector<std::string> arguments{request.model, "-o", engine.string(),
                                     "--force"};
  if (!::isatty(STDERR_FILENO)) {
    arguments.push_back("--quiet");
  }
  arguments.insert(arguments.end(), request.options.begin(),
                   request.options.end());
  QUIRE_RETURN_IF_ERROR(callCompiler(arguments));
  return engine.string();
}

} // namespace quire::cli
