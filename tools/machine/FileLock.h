// A lock between processes: held by one at a time, given back when the process
// ends, however it ends.

#ifndef QUIRE_TOOLS_MACHINE_FILELOCK_H
#define QUIRE_TOOLS_MACHINE_FILELOCK_H

#include "absl/status/statusor.h"

#include <filesystem>
#include <functional>

namespace quire {

class FileLock {
public:
  /// Makes the file if it was not there. When another process holds the lock,
  /// `whileWaiting` is called once, and again after each signal; an error of
  /// its ends the wait.
  static absl::StatusOr<FileLock>
  take(const std::filesystem::path &path,
       const std::function<absl::Status()> &whileWaiting);

  FileLock(FileLock &&other) noexcept;
  ~FileLock();

private:
  FileLock() = default;
  int file = -1;
};

} // namespace quire

#endif
