#include "tools/machine/FileLock.h"

#include "frontends/formats/StrCat.h"
#include "runtime/engine/StatusMacros.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace quire {

absl::StatusOr<FileLock>
FileLock::take(const std::filesystem::path &path,
               const std::function<absl::Status()> &whileWaiting) {
  FileLock lock;
  lock.file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock.file < 0) {
    return absl::UnavailableError(
        strCat("cannot write ", path.string(), ": ", std::strerror(errno)));
  }
  if (::flock(lock.file, LOCK_EX | LOCK_NB) == 0) {
    return lock;
  }
  QUIRE_RETURN_IF_ERROR(whileWaiting());
  while (::flock(lock.file, LOCK_EX) != 0) {
    if (errno != EINTR) {
      return absl::UnavailableError(
          strCat("cannot lock ", path.string(), ": ", std::strerror(errno)));
    }
    QUIRE_RETURN_IF_ERROR(whileWaiting());
  }
  return lock;
}

FileLock::FileLock(FileLock &&other) noexcept
    : file(std::exchange(other.file, -1)) {}

FileLock::~FileLock() {
  if (file >= 0) {
    ::close(file);
  }
}

} // namespace quire
