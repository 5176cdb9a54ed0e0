// Products with float weights and f32 activations. Per output and row,
// whatever the number of rows: a chain of fused multiply-adds over each 64
// values of K in ascending order, and the chains' results added in ascending
// order (which also keeps rounding errors of long sums small).

#ifndef QUIRE_CODEGEN_CPU_KERNELS_LINEARFLOAT_H
#define QUIRE_CODEGEN_CPU_KERNELS_LINEARFLOAT_H

#include "codegen/cpu/kernels/FloatWeights.h"
#include "codegen/cpu/kernels/LinearTotals.h"

namespace QUIRE_KERNEL_NAMESPACE {

/// Values of K in one chain, and unpacked to scratch at a time.
inline constexpr int64_t kFloatChain = 64;

/// Activations of value k of `rows` rows that are `inputs` floats apart.
struct FloatRows {
  const float *row;
  int64_t inputs;
  QUIRE_INLINE F32x16 at(int r, int64_t k) const {
    return splat(row[r * inputs + k]);
  }
};

/// `rows` rows by `tiles` tiles over one chain's worth of weights, `unit` on,
/// decoded in registers.
template <class W, int rows, int tiles, bool prefetch>
QUIRE_INLINE void directTilesFloat(const std::byte *unit, int64_t count,
                                   const FloatRows &x, int tile,
                                   float *totals) {
  F32x16 chain[tiles][rows] = {};
  int64_t k = 0;
  for (; k + 2 <= count; k += 2, unit += W::kUnitBytes) {
    if constexpr (prefetch) {
      prefetchStream(unit, W::kUnitBytes);
    }
#pragma clang loop unroll(full)
    for (int t = 0; t < tiles; ++t) {
      const WeightPair w = W::pair(unit, tile + t);
#pragma clang loop unroll(full)
      for (int r = 0; r < rows; ++r) {
        chain[t][r] = fma(w.even, x.at(r, k), chain[t][r]);
        chain[t][r] = fma(w.odd, x.at(r, k + 1), chain[t][r]);
      }
    }
  }
  if (k < count) {
    for (int t = 0; t < tiles; ++t) {
      const WeightPair w = W::pair(unit, tile + t);
      for (int r = 0; r < rows; ++r) {
        chain[t][r] = fma(w.even, x.at(r, k), chain[t][r]);
      }
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int t = 0; t < tiles; ++t) {
      float *at = totals + 64 * r + 16 * (tile + t);
      storeAligned(at, loadAligned<F32x16>(at) + chain[t][r]);
    }
  }
}

/// One pass over the supertile's stream.
template <class W> struct DirectFloat {
  const SupertileJob &job;

  template <int rows> QUIRE_INLINE void run(int64_t first) const {
    // Sums need no partners here: twice as many as elsewhere fit.
    constexpr int tiles = directTiles(rows / 2);
    const float *x = reinterpret_cast<const float *>(job.activation) +
                     (job.firstRow + first) * job.inputs;
    float *totals = job.totals + 64 * first;
    for (int64_t k = 0; k < job.inputs; k += kFloatChain) {
      const int64_t count = minimum(kFloatChain, job.inputs - k);
      const std::byte *unit = job.weight + k / 2 * W::kUnitBytes;
      directTilesFloat<W, rows, tiles, true>(unit, count, {x + k, job.inputs},
                                             0, totals);
      for (int t = tiles; t < 4; t += tiles) {
        directTilesFloat<W, rows, tiles, false>(unit, count,
                                                {x + k, job.inputs}, t, totals);
      }
    }
  }
};

/// `rows` rows by `tiles` tiles over up to 64 unpacked values of K, which lie
/// as [k][64] f32.
template <int tiles, int rows>
QUIRE_INLINE void multiplyFloat(const float *w, int64_t count,
                                const FloatRows &x, float *totals) {
  F32x16 chain[tiles][rows] = {};
  for (int64_t k = 0; k < count; ++k) {
    F32x16 column[tiles];
    for (int t = 0; t < tiles; ++t) {
      column[t] = loadAligned<F32x16>(w + 64 * k + 16 * t);
    }
    for (int r = 0; r < rows; ++r) {
      for (int t = 0; t < tiles; ++t) {
        chain[t][r] = fma(column[t], x.at(r, k), chain[t][r]);
      }
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int t = 0; t < tiles; ++t) {
      float *at = totals + 64 * r + 16 * t;
      storeAligned(at, loadAligned<F32x16>(at) + chain[t][r]);
    }
  }
}

/// All rows over one unpacked block; the same for every format.
QUIRE_NOINLINE inline void walkFloat(const float *w, int64_t count,
                                     const FloatRows &x, int64_t rows,
                                     float *totals) {
  constexpr int tiles = kFloatBlocking.tiles;
  constexpr int step = kFloatBlocking.rows;
  int64_t r = 0;
  for (; r + step <= rows; r += step) {
    for (int t = 0; t < 4; t += tiles) {
      multiplyFloat<tiles, step>(w + 16 * t, count,
                                 {x.row + r * x.inputs, x.inputs},
                                 totals + 64 * r + 16 * t);
    }
  }
  for (; r < rows; ++r) {
    multiplyFloat<4, 1>(w, count, {x.row + r * x.inputs, x.inputs},
                        totals + 64 * r);
  }
}

template <class W> QUIRE_INLINE void blockedFloat(const SupertileJob &job) {
  const float *x = reinterpret_cast<const float *>(job.activation) +
                   job.firstRow * job.inputs;
  float *unpacked = reinterpret_cast<float *>(job.block);
  for (int64_t begin = 0; begin < job.inputs; begin += kFloatChain) {
    const int64_t count = minimum(kFloatChain, job.inputs - begin);
    const std::byte *unit = job.weight + begin / 2 * W::kUnitBytes;
    for (int64_t k = 0; k < count; k += 2, unit += W::kUnitBytes) {
      for (int t = 0; t < 4; ++t) {
        const WeightPair w = W::pair(unit, t);
        storeAligned(unpacked + 64 * k + 16 * t, w.even);
        storeAligned(unpacked + 64 * (k + 1) + 16 * t, w.odd);
      }
    }
    walkFloat(unpacked, count, {x + begin, job.inputs}, job.rows, job.totals);
  }
}

/// Sums of one tile into job.totals.
template <class W> QUIRE_NOINLINE void totalsFloat(const SupertileJob &job) {
  clearTotals(job);
  if (job.rows < kDirectRows) {
    directPasses(job.rows, DirectFloat<W>{job});
  } else {
    blockedFloat<W>(job);
  }
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
