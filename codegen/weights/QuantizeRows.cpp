#include "codegen/weights/QuantizeRows.h"

#include "codegen/weights/PackPlanes.h"
#include "frontends/formats/Dequantize.h"

#include <algorithm>
#include <cmath>

namespace quire {

using pack::loadAs;
using pack::storeAs;

static constexpr size_t kGroup = 32;

/// Nearest even; NaN, as everything where the scale is zero, becomes 0.
static int roundedCode(float value, float scale, int low, int high) {
  float code = scale == 0.0f ? 0.0f : value / scale;
  code = code == code ? code : 0.0f;
  code = std::clamp(code, static_cast<float>(low), static_cast<float>(high));
  // Adding 1.5 * 2^23 leaves no bits for a fraction.
  return static_cast<int>((code + 0x1.8p23f) - 0x1.8p23f);
}

static void quantizeInt8(std::span<const float> row, std::byte *out) {
  float largest = 0.0f;
  for (float x : row) {
    largest = std::max(largest, std::fabs(x));
  }
  const float scale = largest / 127.0f;
  storeAs(out, scale);
  for (size_t i = 0; i < row.size(); ++i) {
    out[4 + i] = static_cast<std::byte>(
        static_cast<int8_t>(roundedCode(row[i], scale, -127, 127)));
  }
}

/// Codes 0..15 of a group; value i in the low nibble of byte i, value 16 + i
/// in its high one.
static void storeNibbles(const std::array<uint8_t, kGroup> &codes,
                         std::byte *out) {
  for (size_t i = 0; i < 16; ++i) {
    out[i] = static_cast<std::byte>(codes[i] | (codes[16 + i] << 4));
  }
}

static void quantizeInt4(std::span<const float> group, std::byte *out) {
  float extreme = 0.0f;
  for (float x : group) {
    extreme = std::fabs(x) > std::fabs(extreme) ? x : extreme;
  }
  const uint16_t bits = floatToHalf(extreme / -8.0f);
  const float scale = halfToFloat(bits);
  std::array<uint8_t, kGroup> codes;
  for (size_t i = 0; i < kGroup; ++i) {
    codes[i] = static_cast<uint8_t>(roundedCode(group[i], scale, -8, 7) + 8);
  }
  storeAs(out, bits);
  storeNibbles(codes, out + 2);
}

static void quantizeInt4Asym(std::span<const float> group, std::byte *out) {
  const auto [low, high] = std::minmax_element(group.begin(), group.end());
  const uint16_t minimumBits = floatToHalf(*low);
  const float minimum = halfToFloat(minimumBits);
  const uint16_t scaleBits = floatToHalf((*high - minimum) / 15.0f);
  const float scale = halfToFloat(scaleBits);
  std::array<uint8_t, kGroup> codes;
  for (size_t i = 0; i < kGroup; ++i) {
    codes[i] =
        static_cast<uint8_t>(roundedCode(group[i] - minimum, scale, 0, 15));
  }
  storeAs(out, scaleBits);
  storeAs(out + 2, minimumBits);
  storeNibbles(codes, out + 4);
}

bool canQuantize(NumberFormat format) {
  switch (format) {
  case NumberFormat::F32:
  case NumberFormat::F16:
  case NumberFormat::BF16:
  case NumberFormat::Int8Row:
  case NumberFormat::Int4Sym:
  case NumberFormat::Int4Asym:
    return true;
  default:
    return false;
  }
}

void quantizeRow(NumberFormat format, std::span<const float> row,
                 std::span<std::byte> stored) {
  std::byte *out = stored.data();
  const size_t blockBytes =
      static_cast<size_t>(numberFormatInfo(format).blockBytes);
  switch (format) {
  case NumberFormat::F32:
    std::memcpy(out, row.data(), row.size_bytes());
    return;
  case NumberFormat::F16:
  case NumberFormat::BF16:
    for (size_t i = 0; i < row.size(); ++i) {
      storeAs(out + 2 * i, format == NumberFormat::F16
                               ? floatToHalf(row[i])
                               : floatToBfloat16(row[i]));
    }
    return;
  case NumberFormat::Int8Row:
    quantizeInt8(row, out);
    return;
  case NumberFormat::Int4Sym:
  case NumberFormat::Int4Asym:
    for (size_t k = 0; k < row.size(); k += kGroup, out += blockBytes) {
      const std::span<const float> group = row.subspan(k, kGroup);
      if (format == NumberFormat::Int4Sym) {
        quantizeInt4(group, out);
      } else {
        quantizeInt4Asym(group, out);
      }
    }
    return;
  default:
    return;
  }
}

void dequantizeInt8Row(std::span<const std::byte> stored,
                       std::span<float> row) {
  const float scale = loadAs<float>(stored.data());
  for (size_t i = 0; i < row.size(); ++i) {
    row[i] = scale * static_cast<float>(static_cast<int8_t>(stored[4 + i]));
  }
}

} // namespace quire
