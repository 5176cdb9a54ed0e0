// Writes the bit planes that codegen/cpu/kernels/WeightPlanes.h reads. The
// codes of one output's 32 values come as eight words: byte b of word j is
// value 4j + b.

#ifndef QUIRE_CODEGEN_WEIGHTS_PACKPLANES_H
#define QUIRE_CODEGEN_WEIGHTS_PACKPLANES_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace quire::pack {

using CodeWords = std::array<uint32_t, 8>;

template <class T> T loadAs(const std::byte *p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}
template <class T> void storeAs(std::byte *p, T value) {
  std::memcpy(p, &value, sizeof(T));
}

/// `output` is 0..63 within the supertile; planes hold tiles 0-3 in turn.
inline void writeNibbles(const CodeWords &code, int64_t output,
                         std::byte *plane) {
  std::byte *to = plane + output / 16 * 256 + output % 16 * 4;
  for (int64_t j = 0; j < 4; ++j) {
    storeAs(to + 64 * j,
            (code[j] & 0x0f0f0f0fu) | ((code[j + 4] & 0x0f0f0f0fu) << 4));
  }
}

inline void writeBytes(const CodeWords &code, int64_t output,
                       std::byte *plane) {
  std::byte *to = plane + output / 16 * 512 + output % 16 * 4;
  for (int64_t j = 0; j < 8; ++j) {
    storeAs(to + 64 * j, code[j]);
  }
}

/// Bit `at` of every code.
inline void writeBits(const CodeWords &code, int at, int64_t output,
                      std::byte *plane) {
  uint32_t bits = 0;
  for (int64_t j = 0; j < 8; ++j) {
    bits |= ((code[j] >> at) & 0x01010101u) << j;
  }
  storeAs(plane + output / 16 * 64 + output % 16 * 4, bits);
}

/// Bits `at` and `at + 1` of every code.
inline void writeTwoBits(const CodeWords &code, int at, int64_t output,
                         std::byte *plane) {
  std::byte *to = plane + output / 16 * 128 + output % 16 * 4;
  for (int64_t half = 0; half < 2; ++half) {
    uint32_t bits = 0;
    for (int64_t i = 0; i < 4; ++i) {
      bits |= ((code[4 * half + i] >> at) & 0x03030303u) << (2 * i);
    }
    storeAs(to + 64 * half, bits);
  }
}

} // namespace quire::pack

#endif
