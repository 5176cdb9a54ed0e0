#include "codegen/weights/PackFormats.h"
#include "codegen/weights/PackPlanes.h"
#include "ir/rt/Layout.h"

#include <algorithm>

namespace quire::pack {

/// 16 bytes: value i in the low nibble of byte i, value 16 + i in the high.
static CodeWords nibbleCodes(const std::byte *p) {
  CodeWords code;
  for (size_t j = 0; j < 4; ++j) {
    const uint32_t both = loadAs<uint32_t>(p + 4 * j);
    code[j] = both & 0x0f0f0f0fu;
    code[j + 4] = (both >> 4) & 0x0f0f0f0fu;
  }
  return code;
}

/// Bit i of `bits` becomes bit 4 of value i. The product spreads four bits to
/// the low bits of four bytes.
static void addFifthBits(CodeWords &code, uint32_t bits) {
  for (size_t j = 0; j < 8; ++j) {
    const uint32_t four = (bits >> (4 * j)) & 15u;
    code[j] |= ((four * 0x00204081u) & 0x01010101u) << 4;
  }
}

/// `count` int8 values as codes around 128; zeros behind them.
static CodeWords byteCodes(const std::byte *p, int64_t count) {
  std::array<std::byte, 32> bytes = {};
  std::memcpy(bytes.data(), p, static_cast<size_t>(count));
  CodeWords code;
  for (size_t j = 0; j < 8; ++j) {
    code[j] = loadAs<uint32_t>(bytes.data() + 4 * j) ^ 0x80808080u;
  }
  return code;
}

static void packInt8Row(const RowToPack &row) {
  const layout::PackedFormat packed =
      layout::packedFormat(NumberFormat::Int8Row);
  std::memcpy(row.supertile + 4 * row.output, row.stored, 4);
  std::byte *group = row.supertile + packed.supertileHeaderBytes;
  for (int64_t k = 0; k < row.inputs; k += 32, group += packed.unitBytes) {
    writeBytes(
        byteCodes(row.stored + 4 + k, std::min<int64_t>(32, row.inputs - k)),
        row.output, group);
  }
}

void packBlock32Row(NumberFormat format, const RowToPack &row) {
  if (format == NumberFormat::Int8Row) {
    packInt8Row(row);
    return;
  }
  const bool minimum = format == NumberFormat::Q4_1 ||
                       format == NumberFormat::Q5_1 ||
                       format == NumberFormat::Int4Asym;
  const bool five =
      format == NumberFormat::Q5_0 || format == NumberFormat::Q5_1;
  const int64_t blockBytes = numberFormatInfo(format).blockBytes;
  const int64_t unitBytes = layout::packedFormat(format).unitBytes;
  const std::byte *block = row.stored;
  std::byte *group = row.supertile;
  for (int64_t k = 0; k < row.inputs;
       k += 32, block += blockBytes, group += unitBytes) {
    const std::byte *codes = block + (minimum ? 4 : 2);
    std::byte *scales = group;
    if (format == NumberFormat::Q8_0) {
      writeBytes(byteCodes(codes, 32), row.output, group);
      scales += 2048;
    } else {
      CodeWords code = nibbleCodes(codes + (five ? 4 : 0));
      if (five) {
        addFifthBits(code, loadAs<uint32_t>(codes));
        writeBits(code, 4, row.output, group + 1024);
      }
      writeNibbles(code, row.output, group);
      scales += five ? 1024 + 256 : 1024;
    }
    std::memcpy(scales + 2 * row.output, block, 2);
    if (minimum) {
      std::memcpy(scales + 128 + 2 * row.output, block + 2, 2);
    }
  }
}

} // namespace quire::pack
