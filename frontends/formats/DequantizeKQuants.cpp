// The "K" formats: blocks of 256 values in sub-blocks of 16 or 32, whose small
// integer scales (and minima) are multiplied by one f16 for the whole block.
// Each value is (d * scale) * q - (dmin * minimum), rounded to f32 after every
// operation in that order.

#include "frontends/formats/DequantizeBlocks.h"

#include "frontends/formats/ByteReader.h"
#include "frontends/formats/Dequantize.h"

namespace quire {

static float halfAt(const std::byte *address) {
  return halfToFloat(loadAs<uint16_t>(address));
}

static int byteAt(const std::byte *bytes, int i) {
  return static_cast<int>(bytes[i]);
}

/// Value `i` of 256 two-bit numbers in 64 bytes: each 32 bytes hold 128
/// values, 32 of them in each pair of bits.
static int twoBits(const std::byte *bytes, int i) {
  int byte = byteAt(bytes, i / 128 * 32 + i % 32);
  return byte >> (i % 128 / 32 * 2) & 3;
}

/// Value `i` of 256 four-bit numbers in 128 bytes: each 32 bytes hold 64
/// values, 32 of them in each half.
static int fourBits(const std::byte *bytes, int i) {
  int byte = byteAt(bytes, i / 64 * 32 + i % 32);
  return byte >> (i % 64 / 32 * 4) & 0xF;
}

/// Value `i` of 256 single bits in 32 bytes: byte i % 32, bit i / 32.
static int oneBit(const std::byte *bytes, int i) {
  return byteAt(bytes, i % 32) >> (i / 32) & 1;
}

namespace {
struct ScaleAndMinimum {
  int scale;
  int minimum;
};
} // namespace

/// Sub-block `j` of eight 6-bit scales and eight 6-bit minima in 12 bytes:
/// the first four of each in the low six bits of bytes 0-3 and 4-7, the others
/// with their low four bits in bytes 8-11 and their high two on top of 0-7.
static ScaleAndMinimum sixBitPair(const std::byte *packed, int j) {
  if (j < 4) {
    return {byteAt(packed, j) & 63, byteAt(packed, j + 4) & 63};
  }
  int low = byteAt(packed, j + 4);
  return {(low & 0xF) | byteAt(packed, j - 4) >> 6 << 4,
          low >> 4 | byteAt(packed, j) >> 6 << 4};
}

// q2_k: 16 bytes (scale low half, minimum high half) of sub-blocks of 16,
// 64 bytes of two-bit numbers, d, dmin.
void decodeQ2_K(const std::byte *block, float *out) {
  float d = halfAt(block + 80);
  float dmin = halfAt(block + 82);
  for (int j = 0; j < 16; ++j) {
    int packed = byteAt(block, j);
    float scale = d * static_cast<float>(packed & 0xF);
    float minimum = dmin * static_cast<float>(packed >> 4);
    for (int i = j * 16; i < (j + 1) * 16; ++i) {
      out[i] = scale * static_cast<float>(twoBits(block + 16, i)) - minimum;
    }
  }
}

/// Sub-block `j` of sixteen 6-bit scales in 12 bytes: low four bits in the
/// halves of bytes 0-7, high two in the pairs of bytes 8-11.
static int sixBitScale(const std::byte *packed, int j) {
  int low = byteAt(packed, j % 8) >> (j / 8 * 4) & 0xF;
  int high = byteAt(packed, 8 + j % 4) >> (j / 4 * 2) & 3;
  return low | high << 4;
}

// q3_k: 32 bytes of third bits (clear means minus four), 64 bytes of two-bit
// numbers, 12 bytes of scales of sub-blocks of 16, biased by 32, then d.
void decodeQ3_K(const std::byte *block, float *out) {
  float d = halfAt(block + 108);
  for (int j = 0; j < 16; ++j) {
    float scale = d * static_cast<float>(sixBitScale(block + 96, j) - 32);
    for (int i = j * 16; i < (j + 1) * 16; ++i) {
      int q = twoBits(block + 32, i) - (oneBit(block, i) ? 0 : 4);
      out[i] = scale * static_cast<float>(q);
    }
  }
}

// q4_k: d, dmin, 12 bytes of scales and minima of sub-blocks of 32, 128 bytes
// of four-bit numbers.
void decodeQ4_K(const std::byte *block, float *out) {
  float d = halfAt(block);
  float dmin = halfAt(block + 2);
  for (int j = 0; j < 8; ++j) {
    ScaleAndMinimum pair = sixBitPair(block + 4, j);
    float scale = d * static_cast<float>(pair.scale);
    float minimum = dmin * static_cast<float>(pair.minimum);
    for (int i = j * 32; i < (j + 1) * 32; ++i) {
      out[i] = scale * static_cast<float>(fourBits(block + 16, i)) - minimum;
    }
  }
}

// q5_k: as q4_k, with 32 bytes of fifth bits between.
void decodeQ5_K(const std::byte *block, float *out) {
  float d = halfAt(block);
  float dmin = halfAt(block + 2);
  for (int j = 0; j < 8; ++j) {
    ScaleAndMinimum pair = sixBitPair(block + 4, j);
    float scale = d * static_cast<float>(pair.scale);
    float minimum = dmin * static_cast<float>(pair.minimum);
    for (int i = j * 32; i < (j + 1) * 32; ++i) {
      int q = fourBits(block + 48, i) | oneBit(block + 16, i) << 4;
      out[i] = scale * static_cast<float>(q) - minimum;
    }
  }
}

// q6_k: 128 bytes of low four bits, 64 bytes of high two, 16 signed scales of
// sub-blocks of 16, d. In each half of the block the low four bits of values
// 0-63 fill the low halves of 64 bytes and those of 64-127 the high halves.
void decodeQ6_K(const std::byte *block, float *out) {
  float d = halfAt(block + 208);
  for (int j = 0; j < 16; ++j) {
    float scale = d * static_cast<float>(loadAs<int8_t>(block + 192 + j));
    for (int i = j * 16; i < (j + 1) * 16; ++i) {
      int byte = byteAt(block, i / 128 * 64 + i % 64);
      int low = byte >> (i % 128 / 64 * 4) & 0xF;
      int q = (low | twoBits(block + 128, i) << 4) - 32;
      out[i] = scale * static_cast<float>(q);
    }
  }
}

} // namespace quire
