// The conversions between f32 and the small floats, against the compiler's own
// half type and against the definition of each format.

#include "frontends/formats/Dequantize.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

using namespace quire;

namespace {

float compilerHalfToFloat(uint16_t bits) {
  return static_cast<float>(std::bit_cast<_Float16>(bits));
}
uint16_t compilerFloatToHalf(float value) {
  return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
}

/// Bits that reach every exponent, halfway case and special value.
std::vector<uint32_t> interestingFloats() {
  std::vector<uint32_t> bits;
  for (uint32_t top = 0; top < 0x10000; ++top) {
    for (uint32_t low : {0u, 1u, 0x0FFFu, 0x1000u, 0x1001u, 0x7FFFu, 0x8000u,
                         0x8001u, 0xFFFFu}) {
      bits.push_back(top << 16 | low);
    }
  }
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    bits.push_back(static_cast<uint32_t>(random()));
  }
  return bits;
}

TEST(SmallFloats, EveryHalfDecodes) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float ours = halfToFloat(static_cast<uint16_t>(bits));
    float theirs = compilerHalfToFloat(static_cast<uint16_t>(bits));
    ASSERT_EQ(std::bit_cast<uint32_t>(ours), std::bit_cast<uint32_t>(theirs))
        << bits;
  }
}

TEST(SmallFloats, EveryHalfSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = halfToFloat(static_cast<uint16_t>(bits));
    uint16_t quiet = std::isnan(value) ? 0x200 : 0;
    ASSERT_EQ(floatToHalf(value), bits | quiet);
  }
}

TEST(SmallFloats, FloatsRoundToTheNearestHalf) {
  for (uint32_t bits : interestingFloats()) {
    float value = std::bit_cast<float>(bits);
    ASSERT_EQ(floatToHalf(value), compilerFloatToHalf(value)) << bits;
  }
}

TEST(SmallFloats, EveryBfloatIsTheTopOfAFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = bfloat16ToFloat(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      ASSERT_TRUE((bits & 0x7FFF) > 0x7F80);
      continue;
    }
    ASSERT_EQ(std::bit_cast<uint32_t>(value), bits << 16);
    ASSERT_EQ(floatToBfloat16(value), bits);
  }
}

TEST(SmallFloats, FloatsRoundToTheNearestBfloat) {
  for (uint32_t bits : interestingFloats()) {
    float value = std::bit_cast<float>(bits);
    uint16_t rounded = floatToBfloat16(value);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(bfloat16ToFloat(rounded))) << bits;
      continue;
    }
    // Neighbours toward zero and away from it, as integers: the nearer one
    // wins, the even one on a tie.
    uint32_t below = bits & 0xFFFF0000u;
    uint64_t above = static_cast<uint64_t>(below) + 0x10000;
    uint64_t down = bits - below;
    uint64_t up = above - bits;
    bool goUp = up < down || (up == down && (below & 0x10000));
    ASSERT_EQ(rounded, static_cast<uint16_t>((goUp ? above : below) >> 16))
        << bits;
  }
}

TEST(SmallFloats, EightBitFloatsFollowTheirDefinition) {
  for (int bits = 0; bits < 256; ++bits) {
    double sign = bits & 0x80 ? -1 : 1;
    int exponent = bits >> 3 & 15;
    int fraction = bits & 7;
    float value = float8E4M3ToFloat(static_cast<uint8_t>(bits));
    if ((bits & 0x7F) == 0x7F) {
      EXPECT_TRUE(std::isnan(value));
    } else {
      double wanted = exponent
                          ? (1 + fraction / 8.0) * std::pow(2, exponent - 7)
                          : fraction / 8.0 * std::pow(2, -6);
      EXPECT_EQ(value, sign * wanted) << bits;
    }

    exponent = bits >> 2 & 31;
    fraction = bits & 3;
    value = float8E5M2ToFloat(static_cast<uint8_t>(bits));
    if (exponent == 31) {
      EXPECT_TRUE(fraction ? std::isnan(value) : std::isinf(value));
    } else {
      double wanted = exponent
                          ? (1 + fraction / 4.0) * std::pow(2, exponent - 15)
                          : fraction / 4.0 * std::pow(2, -14);
      EXPECT_EQ(value, sign * wanted) << bits;
    }
  }
}

} // namespace
