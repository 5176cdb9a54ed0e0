#include "frontends/formats/MappedFile.h"

#include "frontends/formats/StrCat.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace quire {

namespace {

/// Closes the descriptor on every way out; a mapping outlives it.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) {
      ::close(number);
    }
  }
};

absl::Status systemError(const std::string &path, int error) {
  std::string sentence =
      strCat("cannot read '", path, "': ", std::strerror(error));
  switch (error) {
  case ENOENT:
  case ENOTDIR:
    return absl::NotFoundError(sentence);
  case EACCES:
  case EPERM:
    return absl::PermissionDeniedError(sentence);
  default:
    return absl::UnavailableError(sentence);
  }
}

} // namespace

absl::StatusOr<MappedFile> MappedFile::open(const std::string &path) {
  // Non-blocking, so that opening a pipe nobody writes to cannot hang.
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0) {
    return systemError(path, errno);
  }
  struct stat info;
  if (::fstat(file.number, &info) != 0) {
    return systemError(path, errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(
        strCat("cannot read '", path, "': it is ",
               S_ISDIR(info.st_mode) ? "a directory" : "a special file",
               ", not a regular file"));
  }
  size_t size = static_cast<size_t>(info.st_size);
  if (size == 0) {
    return MappedFile(path, {});
  }
  void *address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number, 0);
  if (address == MAP_FAILED) {
    return systemError(path, errno);
  }
  return MappedFile(path, {static_cast<const std::byte *>(address), size});
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : filePath(std::move(other.filePath)),
      mapped(std::exchange(other.mapped, {})) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(filePath, other.filePath);
  std::swap(mapped, other.mapped);
  return *this;
}

MappedFile::~MappedFile() {
  if (!mapped.empty()) {
    ::munmap(const_cast<std::byte *>(mapped.data()), mapped.size());
  }
}

} // namespace quire
