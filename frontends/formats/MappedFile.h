// A whole file mapped read-only. The mapping lives as long as the object and
// does not move with it, so spans and string_views into it stay valid.
// Immutable after opening; any thread may read. A file that another process
// shortens while it is mapped is outside what a reader can check.

#ifndef QUIRE_FRONTENDS_FORMATS_MAPPEDFILE_H
#define QUIRE_FRONTENDS_FORMATS_MAPPEDFILE_H

#include "absl/status/statusor.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace quire {

class MappedFile {
public:
  /// Maps a regular file (an empty one gives an empty span). Directories,
  /// pipes and devices are refused.
  static absl::StatusOr<MappedFile> open(const std::string &path);

  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  const std::string &path() const { return filePath; }
  size_t size() const { return mapped.size(); }
  std::span<const std::byte> bytes() const { return mapped; }
  std::string_view text() const {
    return {reinterpret_cast<const char *>(mapped.data()), mapped.size()};
  }

private:
  MappedFile(std::string path, std::span<const std::byte> bytes)
      : filePath(std::move(path)), mapped(bytes) {}

  std::string filePath;
  std::span<const std::byte> mapped;
};

} // namespace quire

#endif
