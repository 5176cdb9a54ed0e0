#include "codegen/weights/PackFormats.h"
#include "codegen/weights/PackPlanes.h"
#include "ir/rt/Layout.h"

namespace quire::pack {

/// Where the parts of a file's block are, in bytes; -1: it has none.
struct BlockParts {
  int64_t d;
  int64_t dmin;
  int64_t scales;
  int64_t low;  // the codes' low bits
  int64_t high; // the codes' high bits
};

static BlockParts partsOf(NumberFormat format) {
  switch (format) {
  case NumberFormat::Q2_K:
    return {80, 82, 0, 16, -1};
  case NumberFormat::Q3_K:
    return {108, -1, 96, 32, 0};
  case NumberFormat::Q4_K:
    return {0, 2, 4, 16, -1};
  case NumberFormat::Q5_K:
    return {0, 2, 4, 48, 16};
  default: // Q6_K
    return {208, -1, 192, 0, 128};
  }
}

/// Codes of group g of a block: 32 values.
static CodeWords codesOf(NumberFormat format, const std::byte *block,
                         int64_t g) {
  const BlockParts parts = partsOf(format);
  const std::byte *low = block + parts.low;
  const std::byte *high = block + parts.high;
  CodeWords code;
  for (int64_t j = 0; j < 8; ++j) {
    uint32_t word = 0;
    switch (format) {
    case NumberFormat::Q2_K:
    case NumberFormat::Q3_K:
      // 128 values share 32 bytes, two bits each.
      word = (loadAs<uint32_t>(low + g / 4 * 32 + 4 * j) >> (g % 4 * 2)) &
             0x03030303u;
      if (format == NumberFormat::Q3_K) {
        word |= ((loadAs<uint32_t>(high + 4 * j) >> g) & 0x01010101u) << 2;
      }
      break;
    case NumberFormat::Q4_K:
    case NumberFormat::Q5_K:
      // 64 values share 32 bytes, a nibble each.
      word = (loadAs<uint32_t>(low + g / 2 * 32 + 4 * j) >> (g % 2 * 4)) &
             0x0f0f0f0fu;
      if (format == NumberFormat::Q5_K) {
        word |= ((loadAs<uint32_t>(high + 4 * j) >> g) & 0x01010101u) << 4;
      }
      break;
    default:
      // Q6_K: of 128 values, groups 0 and 2 share 32 bytes of nibbles, 1 and
      // 3 the next; all four share 32 bytes of two-bit parts.
      word = (loadAs<uint32_t>(low + g / 4 * 64 + g % 2 * 32 + 4 * j) >>
              (g % 4 / 2 * 4)) &
             0x0f0f0f0fu;
      word |= ((loadAs<uint32_t>(high + g / 4 * 32 + 4 * j) >> (g % 4 * 2)) &
               0x03030303u)
              << 4;
      break;
    }
    code[static_cast<size_t>(j)] = word;
  }
  return code;
}

static void writeCodes(NumberFormat format, const CodeWords &code,
                       int64_t output, std::byte *group) {
  switch (format) {
  case NumberFormat::Q2_K:
    writeTwoBits(code, 0, output, group);
    return;
  case NumberFormat::Q3_K:
    writeTwoBits(code, 0, output, group);
    writeBits(code, 2, output, group + 512);
    return;
  case NumberFormat::Q5_K:
    writeBits(code, 4, output, group + 1024);
    break;
  case NumberFormat::Q6_K:
    writeTwoBits(code, 4, output, group + 1024);
    break;
  default:
    break;
  }
  writeNibbles(code, output, group);
}

/// Q3_K spreads its 6-bit scales over 12 bytes: four low bits of scale s in a
/// nibble, two high ones in byte 8 + s % 4. Packed, each is a signed byte.
static std::array<int8_t, 16> q3Scales(const std::byte *p) {
  std::array<int8_t, 16> scales;
  for (size_t s = 0; s < 16; ++s) {
    const uint32_t lowByte = std::to_integer<uint32_t>(p[s % 8]);
    const uint32_t low = s < 8 ? lowByte & 15u : lowByte >> 4;
    const uint32_t high =
        (std::to_integer<uint32_t>(p[8 + s % 4]) >> (s / 4 * 2)) & 3u;
    scales[s] = static_cast<int8_t>(static_cast<int>(low | (high << 4)) - 32);
  }
  return scales;
}

/// Sub-scale words of one output, 256 bytes apart.
static void writeScales(NumberFormat format, const std::byte *scales,
                        int64_t output, std::byte *words) {
  std::array<int8_t, 16> unpacked;
  if (format == NumberFormat::Q3_K) {
    unpacked = q3Scales(scales);
    scales = reinterpret_cast<const std::byte *>(unpacked.data());
  }
  const int64_t count =
      format == NumberFormat::Q4_K || format == NumberFormat::Q5_K ? 3 : 4;
  for (int64_t w = 0; w < count; ++w) {
    std::memcpy(words + 256 * w + 4 * output, scales + 4 * w, 4);
  }
}

void packBlock256Row(NumberFormat format, const RowToPack &row) {
  const BlockParts parts = partsOf(format);
  const int64_t blockBytes = numberFormatInfo(format).blockBytes;
  const int64_t unitBytes = layout::packedFormat(format).unitBytes;
  const bool sixBit =
      format == NumberFormat::Q4_K || format == NumberFormat::Q5_K;
  const int64_t wordsAt = parts.dmin >= 0 ? 256 : 128;
  const int64_t headerBytes = wordsAt + (sixBit ? 768 : 1024);
  const int64_t groupBytes = (unitBytes - headerBytes) / 8;
  const std::byte *block = row.stored;
  std::byte *unit = row.supertile;
  for (int64_t k = 0; k < row.inputs;
       k += 256, block += blockBytes, unit += unitBytes) {
    std::memcpy(unit + 2 * row.output, block + parts.d, 2);
    if (parts.dmin >= 0) {
      std::memcpy(unit + 128 + 2 * row.output, block + parts.dmin, 2);
    }
    writeScales(format, block + parts.scales, row.output, unit + wordsAt);
    for (int64_t g = 0; g < 8; ++g) {
      writeCodes(format, codesOf(format, block, g), row.output,
                 unit + headerBytes + g * groupBytes);
    }
  }
}

} // namespace quire::pack
