// A float32 matrix written row by row as a NumPy .npy file (format 1.0). It
// appears under its name only when complete. One thread.

#ifndef QUIRE_TOOLS_CLI_NPYWRITER_H
#define QUIRE_TOOLS_CLI_NPYWRITER_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

namespace quire::cli {

class NpyWriter {
public:
  static absl::StatusOr<NpyWriter> create(const std::string &path, int64_t rows,
                                          int64_t columns);
  NpyWriter(NpyWriter &&) = default;
  ~NpyWriter();

  absl::Status append(std::span<const float> row);
  /// All rows are there: the file gets its name.
  absl::Status finish();

private:
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  NpyWriter() = default;
  absl::Status write(const void *bytes, size_t count);

  std::string path;
  std::string temporary;
  std::unique_ptr<std::FILE, Close> file; // null once finished
};

} // namespace quire::cli

#endif
