// The formats of 32 values with one f16 scale d, some with an f16 minimum m:
//   q4_0: d, 16 bytes;                 value = d * (q - 8)
//   q4_1: d, m, 16 bytes;              value = d * q + m
//   q5_0: d, 32 high bits, 16 bytes;   value = d * (q - 16)
//   q5_1: d, m, 32 high bits, 16 bytes; value = d * q + m
//   q8_0: d, 32 signed bytes;          value = d * q
// Byte j of the 16 holds value j in its low half and value j + 16 in its high
// half; bit j of the 32 is the fifth bit of value j.

#include "frontends/formats/DequantizeBlocks.h"

#include "frontends/formats/ByteReader.h"
#include "frontends/formats/Dequantize.h"

namespace quire {

static float halfAt(const std::byte *address) {
  return halfToFloat(loadAs<uint16_t>(address));
}

/// The 4-bit number of value `i` in 16 bytes.
static int nibble(const std::byte *bytes, int i) {
  int both = static_cast<int>(bytes[i % 16]);
  return i < 16 ? both & 0xF : both >> 4;
}

/// The 5-bit number of value `i`.
static int fiveBits(uint32_t highBits, const std::byte *bytes, int i) {
  return nibble(bytes, i) | static_cast<int>((highBits >> i) & 1) << 4;
}

void decodeQ4_0(const std::byte *block, float *out) {
  float scale = halfAt(block);
  for (int i = 0; i < 32; ++i) {
    out[i] = scale * static_cast<float>(nibble(block + 2, i) - 8);
  }
}

void decodeQ4_1(const std::byte *block, float *out) {
  float scale = halfAt(block);
  float minimum = halfAt(block + 2);
  for (int i = 0; i < 32; ++i) {
    out[i] = scale * static_cast<float>(nibble(block + 4, i)) + minimum;
  }
}

void decodeQ5_0(const std::byte *block, float *out) {
  float scale = halfAt(block);
  uint32_t highBits = loadAs<uint32_t>(block + 2);
  for (int i = 0; i < 32; ++i) {
    out[i] = scale * static_cast<float>(fiveBits(highBits, block + 6, i) - 16);
  }
}

void decodeQ5_1(const std::byte *block, float *out) {
  float scale = halfAt(block);
  float minimum = halfAt(block + 2);
  uint32_t highBits = loadAs<uint32_t>(block + 4);
  for (int i = 0; i < 32; ++i) {
    out[i] =
        scale * static_cast<float>(fiveBits(highBits, block + 8, i)) + minimum;
  }
}

void decodeQ8_0(const std::byte *block, float *out) {
  float scale = halfAt(block);
  for (int i = 0; i < 32; ++i) {
    out[i] = scale * static_cast<float>(loadAs<int8_t>(block + 2 + i));
  }
}

} // namespace quire
