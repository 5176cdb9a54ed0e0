#include "tools/cli/NpyWriter.h"

#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "runtime/engine/StatusMacros.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace quire::cli {

static_assert(std::endian::native == std::endian::little,
              "rows are written as they lie in memory");

/// Where the rows gather until all are there. Empty for a device, a pipe or a
/// link: a rename would put a plain file in its place.
static std::string temporaryFor(const std::string &path) {
  struct stat info = {};
  bool special = ::lstat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  return special ? "" : strCat(path, ".part-", ::getpid());
}

absl::StatusOr<NpyWriter> NpyWriter::create(const std::string &path,
                                            int64_t rows, int64_t columns) {
  NpyWriter writer;
  writer.path = path;
  writer.temporary = temporaryFor(path);
  const std::string &target =
      writer.temporary.empty() ? path : writer.temporary;
  writer.file.reset(std::fopen(target.c_str(), "wbe"));
  if (!writer.file) {
    return absl::UnavailableError(
        strCat("cannot write ", printable(path), ": ", std::strerror(errno)));
  }
  std::string header =
      strCat("{'descr': '<f4', 'fortran_order': False, 'shape': (", rows, ", ",
             columns, "), }");
  // Magic, version and length take ten bytes; data starts at a multiple of 64.
  constexpr size_t kPrefix = 10;
  constexpr size_t kAlignment = 64;
  size_t length =
      (kPrefix + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment -
      kPrefix;
  header.resize(length - 1, ' ');
  header += '\n';
  std::string prefix("\x93NUMPY\x01\x00", 8);
  prefix += static_cast<char>(length & 0xFF);
  prefix += static_cast<char>(length >> 8);
  std::string start = prefix + header;
  QUIRE_RETURN_IF_ERROR(writer.write(start.data(), start.size()));
  return writer;
}

NpyWriter::~NpyWriter() {
  if (file) {
    file.reset();
    if (!temporary.empty()) {
      ::unlink(temporary.c_str());
    }
  }
}

absl::Status NpyWriter::write(const void *bytes, size_t count) {
  if (std::fwrite(bytes, 1, count, file.get()) != count) {
    return absl::UnavailableError(
        strCat("cannot write ", printable(path), ": ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

absl::Status NpyWriter::append(std::span<const float> row) {
  return write(row.data(), row.size_bytes());
}

absl::Status NpyWriter::finish() {
  bool written = std::fflush(file.get()) == 0;
  bool placed = written && (temporary.empty() ||
                            std::rename(temporary.c_str(), path.c_str()) == 0);
  if (!placed) {
    return absl::UnavailableError(
        strCat("cannot write ", printable(path), ": ", std::strerror(errno)));
  }
  file.reset();
  return absl::OkStatus();
}

} // namespace quire::cli
