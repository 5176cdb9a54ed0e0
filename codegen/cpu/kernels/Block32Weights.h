// Weight formats with one scale per 32 values: what a group of 64 outputs x
// 32 values looks like, per format. A group holds its planes for tiles 0-3,
// one plane after the other, then 64 f16 scales, then 64 f16 minima, each
// where the format has them.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_BLOCK32WEIGHTS_H
#define QUIRE_CODEGEN_CPU_KERNELS_BLOCK32WEIGHTS_H

#include "codegen/cpu/kernels/WeightPlanes.h"

namespace QUIRE_KERNEL_NAMESPACE {

/// value = scale * (code - zero) + minimum. What is left of a format once its
/// codes are unpacked; formats that agree here share code.
template <int zeroPoint, bool minimum, bool wide, bool rowScale>
struct Block32Maths {
  static constexpr int kZero = zeroPoint;
  static constexpr bool kHasMinimum = minimum;
  static constexpr bool kWide = wide; // codes use all eight bits
  /// One scale per output for all of K, at the supertile's start.
  static constexpr bool kRowScale = rowScale;
};

/// A format: `bits` are those of the code.
template <NumberFormat format, int bits, int zeroPoint, bool minimum>
struct Block32Weights : Block32Maths<zeroPoint, minimum, bits == 8,
                                     format == NumberFormat::Int8Row> {
  using Maths = Block32Maths<zeroPoint, minimum, bits == 8,
                             format == NumberFormat::Int8Row>;
  static constexpr NumberFormat kFormat = format;
  static constexpr int64_t kUnitBytes = layout::packedFormat(format).unitBytes;
  static constexpr int64_t kPlaneBytes = bits == 8   ? 2048
                                         : bits == 5 ? 1024 + 256
                                                     : 1024;

  static QUIRE_INLINE Lines lines(const std::byte *group, int tile) {
    if constexpr (bits == 8) {
      return byteLines(group + 512 * tile);
    } else {
      Lines lines = nibbleLines(group + 256 * tile);
      if constexpr (bits == 5) {
        addBitPlane<4>(lines, group + 1024 + 64 * tile);
      }
      return lines;
    }
  }

  static QUIRE_INLINE F32x16 scale(const std::byte *group, int tile) {
    return loadHalves(group + kPlaneBytes + 32 * tile);
  }
  static QUIRE_INLINE F32x16 minimumOf(const std::byte *group, int tile) {
    return loadHalves(group + kPlaneBytes + 128 + 32 * tile);
  }
};

template <NumberFormat> struct Block32Of;
template <>
struct Block32Of<NumberFormat::Q4_0>
    : Block32Weights<NumberFormat::Q4_0, 4, 8, false> {};
template <>
struct Block32Of<NumberFormat::Q4_1>
    : Block32Weights<NumberFormat::Q4_1, 4, 0, true> {};
template <>
struct Block32Of<NumberFormat::Q5_0>
    : Block32Weights<NumberFormat::Q5_0, 5, 16, false> {};
template <>
struct Block32Of<NumberFormat::Q5_1>
    : Block32Weights<NumberFormat::Q5_1, 5, 0, true> {};
template <>
struct Block32Of<NumberFormat::Q8_0>
    : Block32Weights<NumberFormat::Q8_0, 8, 128, false> {};
template <>
struct Block32Of<NumberFormat::Int8Row>
    : Block32Weights<NumberFormat::Int8Row, 8, 128, false> {};
/// Quire's own int4 packs as the file formats of the same meaning.
template <>
struct Block32Of<NumberFormat::Int4Sym> : Block32Of<NumberFormat::Q4_0> {};
template <>
struct Block32Of<NumberFormat::Int4Asym> : Block32Of<NumberFormat::Q4_1> {};

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
