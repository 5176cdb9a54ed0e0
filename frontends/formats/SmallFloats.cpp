// Conversions between f32 and the small float formats, by their bits.

#include "frontends/formats/Dequantize.h"

#include <bit>
#include <cmath>
#include <limits>

namespace quire {

// All NaN conversions keep the top payload bits and set the quiet bit, as the
// processors' own conversions do.

float halfToFloat(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 0x1F;
  uint32_t fraction = bits & 0x3FF;
  if (exponent == 0) {
    // Zero or subnormal: fraction * 2^-24, exact in f32.
    float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  if (exponent == 0x1F) {
    uint32_t quiet = fraction ? 0x400000 : 0;
    return std::bit_cast<float>(sign | 0x7F800000 | quiet | (fraction << 13));
  }
  return std::bit_cast<float>(sign | ((exponent + 127 - 15) << 23) |
                              (fraction << 13));
}

uint16_t floatToHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) {
    return sign | 0x7E00 | ((magnitude >> 13) & 0x3FF);
  }
  if (magnitude >= 0x47800000) { // 2^16 and above
    return sign | 0x7C00;
  }
  uint32_t kept, rest, half;
  if (magnitude >= 0x38800000) { // 2^-14, the smallest normal
    uint32_t rebased = magnitude - ((127 - 15) << 23);
    kept = rebased >> 13;
    rest = rebased & 0x1FFF;
    half = 0x1000;
  } else {
    // Subnormal: units of 2^-24. Below 2^-25 everything rounds to zero.
    uint32_t shift = 126 - (magnitude >> 23);
    if (shift > 24) {
      return sign;
    }
    uint32_t significand = (magnitude & 0x7FFFFF) | 0x800000;
    kept = significand >> shift;
    rest = significand & ((1u << shift) - 1);
    half = 1u << (shift - 1);
  }
  // A carry out of the fraction rightly steps the exponent, up to infinity.
  bool up = rest > half || (rest == half && (kept & 1));
  return sign | static_cast<uint16_t>(kept + up);
}

float bfloat16ToFloat(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  bool isNan = (wide & 0x7FFFFFFF) > 0x7F800000;
  return std::bit_cast<float>(wide | (isNan ? 0x400000 : 0));
}

uint16_t floatToBfloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) {
    return static_cast<uint16_t>(bits >> 16) | 0x40;
  }
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

float float8E4M3ToFloat(uint8_t bits) {
  int exponent = (bits >> 3) & 0xF;
  int fraction = bits & 7;
  float magnitude;
  if (exponent == 0xF && fraction == 7) {
    magnitude = std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -9);
  } else {
    magnitude = std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
  }
  return std::copysign(magnitude, bits & 0x80 ? -1.0f : 1.0f);
}

float float8E5M2ToFloat(uint8_t bits) {
  return halfToFloat(static_cast<uint16_t>(bits << 8));
}

} // namespace quire
