// A fresh directory that is removed, with all in it, when the object goes.

#ifndef QUIRE_TESTS_SUPPORT_TEMPORARYDIRECTORY_H
#define QUIRE_TESTS_SUPPORT_TEMPORARYDIRECTORY_H

#include <string>
#include <string_view>

namespace quire::test {

class TemporaryDirectory {
public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

  const std::string &path() const { return directory; }
  std::string file(std::string_view name) const;
  /// Writes a file and returns its path.
  std::string write(std::string_view name, std::string_view content) const;

private:
  std::string directory;
};

} // namespace quire::test

#endif
