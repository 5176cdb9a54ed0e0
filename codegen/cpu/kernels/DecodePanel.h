// Packed weights to f32: up to 64 values of K of one supertile, laid out as
// [k][64 outputs]. Each value is computed with the f32 operations of the
// format's definition, as in Embed.cpp, so that nothing is lost.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_DECODEPANEL_H
#define QUIRE_CODEGEN_CPU_KERNELS_DECODEPANEL_H

#include "codegen/cpu/kernels/Totals.h"

namespace QUIRE_KERNEL_NAMESPACE {

/// Values of K in a panel; the f32 products add up chains of as many.
inline constexpr int64_t kDecodedValues = kFloatChain;
inline constexpr int64_t kPanelFloats =
    kDecodedValues * layout::kSupertileOutputs;

/// Calls put(i, codes) for the 32 values of a group in one tile, codes being
/// value i's of 16 outputs, their zero point taken off.
template <class W, class Put>
QUIRE_INLINE void forCodes(const std::byte *group, int tile, Put put) {
  const Lines lines = W::lines(group, tile);
#pragma clang loop unroll(full)
  for (int j = 0; j < 8; ++j) {
#pragma clang loop unroll(full)
    for (int b = 0; b < 4; ++b) {
      const U32x16 code = (lines.line[j] >> (8 * b)) & 0xffu;
      put(4 * j + b, toFloat(bitCast<I32x16>(code) - W::kZero));
    }
  }
}

template <class W>
QUIRE_INLINE void decodePanelFloat(const std::byte *supertile, int64_t from,
                                   int64_t count, float *to) {
  const std::byte *unit = supertile + from / 2 * W::kUnitBytes;
  for (int64_t k = 0; k < count; k += 2, unit += W::kUnitBytes) {
    for (int t = 0; t < 4; ++t) {
      const WeightPair w = W::pair(unit, t);
      storeAligned(to + 64 * k + 16 * t, w.even);
      storeAligned(to + 64 * (k + 1) + 16 * t, w.odd);
    }
  }
}

template <class W>
QUIRE_INLINE void decodePanelBlock32(const std::byte *supertile, int64_t from,
                                     int64_t count, float *to) {
  const std::byte *group =
      supertile + layout::packedFormat(W::kFormat).supertileHeaderBytes +
      from / 32 * W::kUnitBytes;
  for (int64_t k = 0; k < count; k += 32, group += W::kUnitBytes) {
    for (int t = 0; t < 4; ++t) {
      F32x16 d, m = {};
      if constexpr (W::kRowScale) {
        d = loadAligned<F32x16>(supertile + 64 * t);
      } else {
        d = W::scale(group, t);
      }
      if constexpr (W::kHasMinimum) {
        m = W::minimumOf(group, t);
      }
      forCodes<W>(group, t, [&](int i, F32x16 code) {
        storeAligned(to + 64 * (k + i) + 16 * t,
                     W::kHasMinimum ? code * d + m : code * d);
      });
    }
  }
}

template <class W>
QUIRE_INLINE void decodePanelBlock256(const std::byte *supertile, int64_t from,
                                      int64_t count, float *to) {
  const std::byte *block = supertile + from / 256 * W::kUnitBytes;
  for (int t = 0; t < 4; ++t) {
    const auto scales = W::subScales(block, t);
    const F32x16 d = W::superScale(block, t);
    F32x16 dmin = {};
    if constexpr (W::kHasMinimum) {
      dmin = W::superMinimum(block, t);
    }
    for (int64_t k = 0; k < count; k += 32) {
      const int64_t g = from % 256 / 32 + k / 32;
      F32x16 scale[32 / W::kSubGroup], minimum[32 / W::kSubGroup] = {};
      for (int64_t i = 0; i < 32 / W::kSubGroup; ++i) {
        const int s = static_cast<int>(g * (32 / W::kSubGroup) + i);
        scale[i] = d * W::subScale(scales, s / 4, s % 4);
        if constexpr (W::kHasMinimum) {
          const U32x16 m = (scales.minimum[s / 4] >> (8 * (s % 4))) & 0xffu;
          minimum[i] = dmin * toFloat(bitCast<I32x16>(m));
        }
      }
      forCodes<W>(block + W::kHeaderBytes + g * W::kGroupBytes, t,
                  [&](int i, F32x16 code) {
                    F32x16 value = scale[i / W::kSubGroup] * code;
                    if constexpr (W::kHasMinimum) {
                      value -= minimum[i / W::kSubGroup];
                    }
                    storeAligned(to + 64 * (k + i) + 16 * t, value);
                  });
    }
  }
}

/// Values from .. from + count - 1 of K; `from` is a multiple of 64. `to` has
/// room for 64 of them.
template <NumberFormat format>
QUIRE_NOINLINE void decodePanel(const std::byte *supertile, int64_t from,
                                int64_t count, float *to) {
  constexpr ActivationFormat activation = layout::activationFormatFor(format);
  if constexpr (activation == ActivationFormat::F32) {
    decodePanelFloat<FloatWeights<format>>(supertile, from, count, to);
  } else if constexpr (activation == ActivationFormat::Int8By256) {
    decodePanelBlock256<Block256Weights<format>>(supertile, from, count, to);
  } else {
    decodePanelBlock32<Block32Of<format>>(supertile, from, count, to);
  }
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
