// Puts safetensors files together for tests. Nothing is checked, so that a
// test can write what a reader must refuse.

#ifndef QUIRE_TESTS_SUPPORT_SAFETENSORSWRITER_H
#define QUIRE_TESTS_SUPPORT_SAFETENSORSWRITER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quire::test {

class SafetensorsWriter {
public:
  /// `dtype` as the format spells it: "BF16".
  SafetensorsWriter &tensor(std::string_view name, std::string_view dtype,
                            const std::vector<int64_t> &shape,
                            std::string_view bytes);
  /// An f32 tensor.
  SafetensorsWriter &floats(std::string_view name,
                            const std::vector<int64_t> &shape,
                            const std::vector<float> &values);

  std::string bytes() const { return file("{" + entries + "}", data); }
  void write(const std::string &path) const;

  /// A file with just this header and data.
  static std::string file(std::string_view header, std::string_view data);

private:
  std::string entries;
  std::string data;
};

} // namespace quire::test

#endif
