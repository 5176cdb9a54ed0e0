// Puts GGUF files together for tests. Nothing is checked, so that a test can
// write what a reader must refuse.

#ifndef QUIRE_TESTS_SUPPORT_GGUFWRITER_H
#define QUIRE_TESTS_SUPPORT_GGUFWRITER_H

#include "frontends/formats/GgufTypes.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quire::test {

/// A value's bytes as the file holds them.
template <typename T> std::string rawBytes(const T &value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof(T));
}

class GgufWriter {
public:
  uint32_t version = 3;
  uint64_t alignment = 32;

  template <typename T>
  GgufWriter &scalar(std::string_view key, GgufType type, T value) {
    return entry(key, type, rawBytes(value));
  }
  GgufWriter &u32(std::string_view key, uint32_t value) {
    return scalar(key, GgufType::U32, value);
  }
  GgufWriter &f32(std::string_view key, float value) {
    return scalar(key, GgufType::F32, value);
  }
  GgufWriter &string(std::string_view key, std::string_view value);
  GgufWriter &strings(std::string_view key,
                      const std::vector<std::string> &values);
  template <typename T>
  GgufWriter &array(std::string_view key, GgufType element,
                    const std::vector<T> &values) {
    std::string raw = arrayHead(element, values.size());
    for (const T &value : values) {
      raw += rawBytes(value);
    }
    return entry(key, GgufType::Array, raw);
  }
  /// `value` is what follows the type in the file.
  GgufWriter &entry(std::string_view key, GgufType type,
                    std::string_view value);

  /// Shape outermost first, as in a TensorView; placed after the one before.
  GgufWriter &tensor(std::string_view name, NumberFormat format,
                     const std::vector<uint64_t> &shape,
                     std::string_view bytes);
  /// A tensor's description alone, with nothing added to the data; innermost
  /// dimension first, as the file has it.
  GgufWriter &description(std::string_view name,
                          const std::vector<uint64_t> &dimensions,
                          uint32_t ggmlType, uint64_t offset);

  std::string bytes() const;
  void write(const std::string &path) const;

  static std::string arrayHead(GgufType element, uint64_t count);
  static std::string sized(std::string_view text);

private:
  uint64_t entryCount = 0;
  uint64_t tensorCount = 0;
  std::string entries;
  std::string descriptions;
  std::string data;
};

} // namespace quire::test

#endif
