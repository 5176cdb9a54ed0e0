// K-quant weight formats: what a block of 64 outputs x 256 values looks like.
// A header, then eight groups of 32 values with the format's planes for tiles
// 0-3, one plane after the other. The header holds 64 f16 super-scales, 64
// f16 super-minima where the format has them, then the sub-scales as words of
// 64 lanes, 256 bytes each: three words as the file's twelve bytes lie
// (6-bit scales and minima), or four words of one byte a sub-group.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_BLOCK256WEIGHTS_H
#define QUIRE_CODEGEN_CPU_KERNELS_BLOCK256WEIGHTS_H

#include "codegen/cpu/kernels/WeightPlanes.h"

namespace QUIRE_KERNEL_NAMESPACE {

/// value = d * scale[s] * (code - zero) - dmin * minimum[s], s = k / subGroup.
/// What is left of a format once its codes are unpacked; formats that agree
/// here share code.
template <int subGroup, bool minimum, int zero> struct Block256Maths {
  static constexpr int kSubGroup = subGroup;
  static constexpr int kSubGroups = 256 / subGroup;
  static constexpr bool kHasMinimum = minimum;
  static constexpr int kZero = zero;
};

template <NumberFormat> struct MathsOf;
template <> struct MathsOf<NumberFormat::Q2_K> : Block256Maths<16, true, 0> {};
template <> struct MathsOf<NumberFormat::Q3_K> : Block256Maths<16, false, 4> {};
template <> struct MathsOf<NumberFormat::Q4_K> : Block256Maths<32, true, 0> {};
template <> struct MathsOf<NumberFormat::Q5_K> : Block256Maths<32, true, 0> {};
template <>
struct MathsOf<NumberFormat::Q6_K> : Block256Maths<16, false, 32> {};

template <NumberFormat format> struct Block256Weights : MathsOf<format> {
  using MathsOf<format>::kSubGroup;
  using MathsOf<format>::kSubGroups;
  using MathsOf<format>::kHasMinimum;
  using MathsOf<format>::kZero;
  using Maths = Block256Maths<kSubGroup, kHasMinimum, kZero>;
  static constexpr NumberFormat kFormat = format;
  static constexpr int64_t kUnitBytes = layout::packedFormat(format).unitBytes;
  static constexpr bool kSixBitScales =
      format == NumberFormat::Q4_K || format == NumberFormat::Q5_K;
  static constexpr int64_t kWords = kHasMinimum ? 256 : 128;
  static constexpr int64_t kHeaderBytes = kWords + (kSixBitScales ? 768 : 1024);
  static constexpr int64_t kGroupBytes = (kUnitBytes - kHeaderBytes) / 8;

  static QUIRE_INLINE Lines lines(const std::byte *group, int tile) {
    Lines lines = {};
    if constexpr (format == NumberFormat::Q2_K) {
      addTwoBitPlane<0>(lines, group + 128 * tile);
    } else if constexpr (format == NumberFormat::Q3_K) {
      addTwoBitPlane<0>(lines, group + 128 * tile);
      addBitPlane<2>(lines, group + 512 + 64 * tile);
    } else {
      lines = nibbleLines(group + 256 * tile);
      if constexpr (format == NumberFormat::Q5_K) {
        addBitPlane<4>(lines, group + 1024 + 64 * tile);
      } else if constexpr (format == NumberFormat::Q6_K) {
        addTwoBitPlane<4>(lines, group + 1024 + 128 * tile);
      }
    }
    return lines;
  }

  static QUIRE_INLINE F32x16 superScale(const std::byte *block, int tile) {
    return loadHalves(block + 32 * tile);
  }
  static QUIRE_INLINE F32x16 superMinimum(const std::byte *block, int tile) {
    return loadHalves(block + 128 + 32 * tile);
  }
  static QUIRE_INLINE U32x16 word(const std::byte *block, int w, int tile) {
    return loadAligned<U32x16>(block + kWords + 256 * w + 64 * tile);
  }

  /// Sub-scales four to a lane, byte i of scale[q] for sub-group 4q + i; the
  /// minima likewise. Signed where the format has no minima.
  struct SubScales {
    U32x16 scale[kSubGroups / 4];
    U32x16 minimum[kSubGroups / 4];
  };
  static QUIRE_INLINE SubScales subScales(const std::byte *block, int tile) {
    SubScales s;
    if constexpr (kSixBitScales) {
      const U32x16 w0 = word(block, 0, tile);
      const U32x16 w1 = word(block, 1, tile);
      const U32x16 w2 = word(block, 2, tile);
      s.scale[0] = w0 & 0x3f3f3f3fu;
      s.minimum[0] = w1 & 0x3f3f3f3fu;
      s.scale[1] = (w2 & 0x0f0f0f0fu) | ((w0 >> 2) & 0x30303030u);
      s.minimum[1] = ((w2 >> 4) & 0x0f0f0f0fu) | ((w1 >> 2) & 0x30303030u);
    } else {
      for (int q = 0; q < 4; ++q) {
        const U32x16 w = word(block, q, tile);
        if constexpr (kHasMinimum) {
          s.scale[q] = w & 0x0f0f0f0fu;
          s.minimum[q] = (w >> 4) & 0x0f0f0f0fu;
        } else {
          s.scale[q] = w;
        }
      }
    }
    return s;
  }

  /// The scale of sub-group 4q + i as f32.
  static QUIRE_INLINE F32x16 subScale(const SubScales &s, int q, int i) {
    if constexpr (kHasMinimum) {
      return toFloat(bitCast<I32x16>((s.scale[q] >> (8 * i)) & 0xffu));
    } else {
      return toFloat(bitCast<I32x16>(s.scale[q] << (24 - 8 * i)) >> 24);
    }
  }

  /// Minima 4q and 4q + 2 as two int16 in a lane (odd: 4q + 1 and 4q + 3).
  static QUIRE_INLINE I32x16 minimumPair(const SubScales &s, int q, int odd) {
    return bitCast<I32x16>((s.minimum[q] >> (8 * odd)) & 0x00ff00ffu);
  }
};

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
