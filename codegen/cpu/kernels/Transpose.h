// A 16 x 16 transpose of floats in registers.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_TRANSPOSE_H
#define QUIRE_CODEGEN_CPU_KERNELS_TRANSPOSE_H

#include "codegen/cpu/kernels/Simd.h"

namespace QUIRE_KERNEL_NAMESPACE {

/// Swaps, in rows i and i + step, the lanes whose number has bit `step` in
/// row i with those that lack it in row i + step. After steps 8, 4, 2 and 1
/// row r holds what was column r.
template <int step> QUIRE_INLINE void exchange(F32x16 &a, F32x16 &b) {
  constexpr auto low = [](int lane) {
    return lane & step ? 16 + lane - step : lane;
  };
  constexpr auto high = [](int lane) {
    return lane & step ? 16 + lane : lane + step;
  };
  const F32x16 first = __builtin_shufflevector(
      a, b, low(0), low(1), low(2), low(3), low(4), low(5), low(6), low(7),
      low(8), low(9), low(10), low(11), low(12), low(13), low(14), low(15));
  b = __builtin_shufflevector(a, b, high(0), high(1), high(2), high(3), high(4),
                              high(5), high(6), high(7), high(8), high(9),
                              high(10), high(11), high(12), high(13), high(14),
                              high(15));
  a = first;
}

template <int step> QUIRE_INLINE void exchangeAll(F32x16 (&rows)[16]) {
  for (int i = 0; i < 16; ++i) {
    if ((i & step) == 0) {
      exchange<step>(rows[i], rows[i + step]);
    }
  }
}

QUIRE_INLINE void transpose(F32x16 (&rows)[16]) {
  exchangeAll<8>(rows);
  exchangeAll<4>(rows);
  exchangeAll<2>(rows);
  exchangeAll<1>(rows);
}

/// Lane i is sumLanes(rows[i]), by the same tree.
QUIRE_INLINE F32x16 sumEach(F32x16 (&rows)[16]) {
  const auto halve = [&]<int step>() {
    for (int i = 0; i < step; ++i) {
      exchange<step>(rows[i], rows[i + step]);
      rows[i] += rows[i + step];
    }
  };
  halve.template operator()<8>();
  halve.template operator()<4>();
  halve.template operator()<2>();
  halve.template operator()<1>();
  return rows[0];
}

/// In place, 64 x 64 floats.
QUIRE_INLINE void transposePanel(float *panel) {
  const auto loadTile = [&](int64_t row, int64_t column, F32x16(&tile)[16]) {
    for (int64_t i = 0; i < 16; ++i) {
      tile[i] = loadAligned<F32x16>(panel + 64 * (row + i) + column);
    }
    transpose(tile);
  };
  const auto storeTile = [&](int64_t row, int64_t column,
                             const F32x16(&tile)[16]) {
    for (int64_t i = 0; i < 16; ++i) {
      storeAligned(panel + 64 * (row + i) + column, tile[i]);
    }
  };
  for (int64_t row = 0; row < 64; row += 16) {
    for (int64_t column = 0; column <= row; column += 16) {
      F32x16 below[16], above[16];
      loadTile(row, column, below);
      loadTile(column, row, above);
      storeTile(column, row, below);
      storeTile(row, column, above);
    }
  }
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
