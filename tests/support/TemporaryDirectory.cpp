#include "tests/support/TemporaryDirectory.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace quire::test {

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "quire-test-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) {
    std::abort(); // No test can go on without one.
  }
  directory = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
}

std::string TemporaryDirectory::file(std::string_view name) const {
  return (std::filesystem::path(directory) / name).string();
}

std::string TemporaryDirectory::write(std::string_view name,
                                      std::string_view content) const {
  std::string path = file(name);
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

} // namespace quire::test
