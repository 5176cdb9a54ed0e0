// A copy of the bundled model or of an engine of it, to be damaged.

#ifndef QUIRE_TESTS_E2E_DAMAGEDCOPY_H
#define QUIRE_TESTS_E2E_DAMAGEDCOPY_H

#include "tests/support/TemporaryDirectory.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace quire::e2e {

class DamagedCopy {
public:
  explicit DamagedCopy(const std::string &original) : original(original) {
    std::filesystem::create_directory(path());
    for (auto &entry : std::filesystem::directory_iterator(original)) {
      if (entry.is_regular_file()) {
        restore(entry.path().filename().string());
      }
    }
  }

  std::string path() const { return folder.file("copy"); }
  std::string fileOf(const std::string &name) const {
    return path() + "/" + name;
  }
  int64_t sizeOf(const std::string &name) const {
    return int64_t(std::filesystem::file_size(original + "/" + name));
  }

  void restore(const std::string &name) {
    std::filesystem::remove(fileOf(name));
    std::filesystem::copy_file(original + "/" + name, fileOf(name));
    std::filesystem::permissions(fileOf(name),
                                 std::filesystem::perms::owner_write,
                                 std::filesystem::perm_options::add);
  }
  void truncate(const std::string &name, int64_t bytes) {
    std::filesystem::resize_file(fileOf(name), uintmax_t(bytes));
  }
  void remove(const std::string &name) {
    std::filesystem::remove(fileOf(name));
  }
  void flip(const std::string &name, int64_t position, int mask) {
    std::fstream file(fileOf(name),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(position);
    int byte = file.get();
    file.seekp(position);
    file.put(char(byte ^ mask));
  }
  std::string read(const std::string &name) const {
    std::ifstream file(fileOf(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string &name, const std::string &content) {
    std::ofstream(fileOf(name), std::ios::binary) << content;
  }

private:
  std::string original;
  test::TemporaryDirectory folder;
};

} // namespace quire::e2e

#endif
