// Reads little-endian values one after the other from bytes that nobody
// vouches for: each read says whether the bytes were there.

#ifndef QUIRE_FRONTENDS_FORMATS_BYTEREADER_H
#define QUIRE_FRONTENDS_FORMATS_BYTEREADER_H

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace quire {

static_assert(std::endian::native == std::endian::little,
              "the readers copy little-endian values as they stand");

/// A value at any address, aligned or not.
template <typename T> T loadAs(const std::byte *address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

class ByteReader {
public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes(bytes) {}

  size_t position() const { return at; }
  size_t remaining() const { return bytes.size() - at; }

  /// False, and nothing consumed, when fewer bytes are left.
  template <typename T> [[nodiscard]] bool read(T &value) {
    if (remaining() < sizeof(T)) {
      return false;
    }
    value = loadAs<T>(bytes.data() + at);
    at += sizeof(T);
    return true;
  }
  [[nodiscard]] bool take(uint64_t count, std::span<const std::byte> &taken) {
    if (remaining() < count) {
      return false;
    }
    taken = bytes.subspan(at, count);
    at += count;
    return true;
  }

private:
  std::span<const std::byte> bytes;
  size_t at = 0;
};

} // namespace quire

#endif
