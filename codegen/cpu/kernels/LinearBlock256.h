// Products with K-quant weights, activations in Int8By256. Per output and row
// and block of 256 values, whatever the number of rows:
//   dot[s] = exact int32 sum over sub-group s of (code - zero) * x
//   sum    = fma(dot[s], scale[s], sum) in ascending order of s
//   low    = exact int32 sum over s of minimum[s] * sum(x in s)    if any
//   total  = fma(activationScale, d * sum - dmin * low, total)
// dot and low are exact, so only the few f32 operations a block round.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_LINEARBLOCK256_H
#define QUIRE_CODEGEN_CPU_KERNELS_LINEARBLOCK256_H

#include "codegen/cpu/kernels/Block256Weights.h"
#include "codegen/cpu/kernels/LinearTotals.h"

#include <cstddef>

namespace QUIRE_KERNEL_NAMESPACE {

/// The accumulator's start for sub-group s.
template <class W>
QUIRE_INLINE I32x16 startBlock256(const std::byte *meta, int s) {
  if constexpr (W::kZero == 0) {
    return I32x16{};
  } else {
    const I32x16 sum = splat(loadScalar<int32_t>(
        meta + offsetof(Int8By256Block, minus32Sum16) + 4 * s));
    return W::kZero == 32 ? sum : sum >> 3; // -4 * sum
  }
}

/// The p-th pair of activation sums that belongs to the p-th pair of minima.
template <class W> QUIRE_INLINE I32x16 sumPair(const std::byte *meta, int p) {
  constexpr int64_t at = W::kSubGroup == 32 ? offsetof(Int8By256Block, sum32)
                                            : offsetof(Int8By256Block, sum16);
  return splat(loadScalar<int32_t>(meta + at + 4 * p));
}

/// A block of weights unpacked to scratch: lines [8][4][8] x 64 bytes,
/// sub-scales [subGroups][64] f32, pairs of minima [subGroups / 2][64], super
/// scales and minima [64].
struct UnpackedBlock256 {
  std::byte *lines;
  float *scale;
  int32_t *minimum;
  float *d;
  float *dmin;
};
QUIRE_INLINE UnpackedBlock256 unpackedBlock256(std::byte *scratch) {
  constexpr int64_t lines = layout::kSupertileOutputs * layout::kBlock;
  float *scale = reinterpret_cast<float *>(scratch + lines);
  float *minimum = scale + 16 * 64;
  return {scratch, scale, reinterpret_cast<int32_t *>(minimum),
          minimum + 8 * 64, minimum + 9 * 64};
}

/// Scales and minima of a block, to scratch: extracting them from their six or
/// four bits again and again would cost more than the products do.
template <class W>
QUIRE_INLINE void unpackScales(const std::byte *block,
                               const UnpackedBlock256 &to) {
  for (int t = 0; t < 4; ++t) {
    const typename W::SubScales scales = W::subScales(block, t);
#pragma clang loop unroll(full)
    for (int s = 0; s < W::kSubGroups; ++s) {
      storeAligned(to.scale + 64 * s + 16 * t,
                   W::subScale(scales, s / 4, s % 4));
    }
    storeAligned(to.d + 16 * t, W::superScale(block, t));
    if constexpr (W::kHasMinimum) {
#pragma clang loop unroll(full)
      for (int p = 0; p < W::kSubGroups / 2; ++p) {
        storeAligned(to.minimum + 64 * p + 16 * t,
                     W::minimumPair(scales, p / 2, p % 2));
      }
      storeAligned(to.dmin + 16 * t, W::superMinimum(block, t));
    }
  }
}

template <class W>
QUIRE_INLINE void unpackLines(const std::byte *block,
                              const UnpackedBlock256 &to) {
  const std::byte *group = block + W::kHeaderBytes;
  for (int g = 0; g < 8; ++g, group += W::kGroupBytes) {
    for (int t = 0; t < 4; ++t) {
      const Lines w = W::lines(group, t);
      for (int j = 0; j < 8; ++j) {
        storeAligned(to.lines + ((g * 4 + t) * 8 + j) * 64, w.line[j]);
      }
    }
  }
}

/// The end of a block for one tile of outputs and one row.
template <class W>
QUIRE_INLINE F32x16 addBlock256(F32x16 total, F32x16 sum,
                                const UnpackedBlock256 &w, int64_t lane,
                                const std::byte *meta) {
  F32x16 block = sum * loadAligned<F32x16>(w.d + lane);
  if constexpr (W::kHasMinimum) {
    I32x16 low = {};
    for (int p = 0; p < W::kSubGroups / 2; ++p) {
      low = dotPairs(low, loadAligned<I32x16>(w.minimum + 64 * p + lane),
                     sumPair<W>(meta, p));
    }
    block = fma(toFloat(low), -loadAligned<F32x16>(w.dmin + lane), block);
  }
  return fma(splat(loadScalar<float>(meta)), block, total);
}

/// Adds a block's sums to totals in scratch.
template <class W, int tiles, int rows>
QUIRE_INLINE void addSums(const F32x16 (&sum)[tiles][rows],
                          const UnpackedBlock256 &w, int tile,
                          const std::byte *meta, float *totals) {
  for (int t = 0; t < tiles; ++t) {
    const int64_t lane = 16 * (tile + t);
    for (int r = 0; r < rows; ++r) {
      float *at = totals + 64 * r + lane;
      storeAligned(at, addBlock256<W>(loadAligned<F32x16>(at), sum[t][r], w,
                                      lane, meta + 128 * r));
    }
  }
}

/// `rows` rows by `tiles` tiles over a block that is unpacked in registers.
template <class W, int rows, int tiles, bool prefetch>
QUIRE_INLINE void
directTilesBlock256(const std::byte *block, const UnpackedBlock256 &scales,
                    const Int8View<const std::byte> &x, int64_t b, int64_t row,
                    int tile, float *totals) {
  constexpr int perGroup = 32 / W::kSubGroup;
  const std::byte *meta = x.block256(b, row);
  const std::byte *group = block + W::kHeaderBytes;
  F32x16 sum[tiles][rows] = {};
#pragma clang loop unroll(disable)
  for (int g = 0; g < 8; ++g, group += W::kGroupBytes) {
    const std::byte *values = x.values(b * 8 + g, row);
    if constexpr (prefetch) {
      prefetchStream(group, W::kGroupBytes);
    }
#pragma clang loop unroll(full)
    for (int t = 0; t < tiles; ++t) {
      const Lines w = W::lines(group, tile + t);
#pragma clang loop unroll(full)
      for (int part = 0; part < perGroup; ++part) {
        const int s = g * perGroup + part;
        const F32x16 scale =
            loadAligned<F32x16>(scales.scale + 64 * s + 16 * (tile + t));
#pragma clang loop unroll(full)
        for (int r = 0; r < rows; ++r) {
          I32x16 dot = startBlock256<W>(meta + 128 * r, s);
#pragma clang loop unroll(full)
          for (int i = 0; i < 8 / perGroup; ++i) {
            const int j = part * (8 / perGroup) + i;
            dot = dotBytes(dot, w.line[j],
                           splat(loadScalar<int32_t>(values + 32 * r + 4 * j)));
          }
          sum[t][r] = fma(toFloat(dot), scale, sum[t][r]);
        }
      }
    }
  }
  addSums<W>(sum, scales, tile, meta, totals);
}

/// One pass over the supertile's stream.
template <class W> struct DirectBlock256 {
  const SupertileJob &job;
  const Int8View<const std::byte> &x;

  template <int rows> QUIRE_INLINE void run(int64_t first) const {
    constexpr int tiles = directTiles(rows);
    const int64_t blocks = job.inputs / layout::kBlock;
    const UnpackedBlock256 scales = unpackedBlock256(job.block);
    const std::byte *block = job.weight;
    const int64_t row = job.firstRow + first;
    float *totals = job.totals + 64 * first;
    for (int64_t b = 0; b < blocks; ++b, block += W::kUnitBytes) {
      prefetchStream(block, W::kHeaderBytes);
      unpackScales<W>(block, scales);
      directTilesBlock256<W, rows, tiles, true>(block, scales, x, b, row, 0,
                                                totals);
      for (int t = tiles; t < 4; t += tiles) {
        directTilesBlock256<W, rows, tiles, false>(block, scales, x, b, row, t,
                                                   totals);
      }
    }
  }
};

/// `rows` rows by `tiles` tiles over one unpacked block.
template <class W, int tiles, int rows>
QUIRE_INLINE void
multiplyBlock256(const UnpackedBlock256 &w, const Int8View<const std::byte> &x,
                 int64_t b, int64_t row, int tile, float *totals) {
  constexpr int perGroup = 32 / W::kSubGroup;
  const std::byte *meta = x.block256(b, row);
  F32x16 sum[tiles][rows] = {};
  for (int g = 0; g < 8; ++g) {
    const std::byte *values = x.values(b * 8 + g, row);
    const std::byte *lines = w.lines + (g * 4 + tile) * 512;
#pragma clang loop unroll(full)
    for (int part = 0; part < perGroup; ++part) {
      const int s = g * perGroup + part;
      I32x16 dot[tiles][rows];
      for (int r = 0; r < rows; ++r) {
        const I32x16 start = startBlock256<W>(meta + 128 * r, s);
        for (int t = 0; t < tiles; ++t) {
          dot[t][r] = start;
        }
      }
#pragma clang loop unroll(full)
      for (int i = 0; i < 8 / perGroup; ++i) {
        const int j = part * (8 / perGroup) + i;
        for (int r = 0; r < rows; ++r) {
          const I32x16 four =
              splat(loadScalar<int32_t>(values + 32 * r + 4 * j));
          for (int t = 0; t < tiles; ++t) {
            dot[t][r] = dotBytes(
                dot[t][r], loadAligned<U32x16>(lines + 512 * t + 64 * j), four);
          }
        }
      }
      for (int t = 0; t < tiles; ++t) {
        const F32x16 scale =
            loadAligned<F32x16>(w.scale + 64 * s + 16 * (tile + t));
        for (int r = 0; r < rows; ++r) {
          sum[t][r] = fma(toFloat(dot[t][r]), scale, sum[t][r]);
        }
      }
    }
  }
  addSums<W>(sum, w, tile, meta, totals);
}

/// All rows over one unpacked block; W is a Block256Maths.
template <class W>
QUIRE_NOINLINE void
walkBlock256(const UnpackedBlock256 &w, const Int8View<const std::byte> &x,
             int64_t b, int64_t firstRow, int64_t rows, float *totals) {
  constexpr int tiles = kBlock256Blocking.tiles;
  constexpr int step = kBlock256Blocking.rows;
  int64_t r = 0;
  for (; r + step <= rows; r += step) {
    for (int t = 0; t < 4; t += tiles) {
      multiplyBlock256<W, tiles, step>(w, x, b, firstRow + r, t,
                                       totals + 64 * r);
    }
  }
  for (; r < rows; ++r) {
    multiplyBlock256<W, 4, 1>(w, x, b, firstRow + r, 0, totals + 64 * r);
  }
}

/// Sums of one tile into job.totals.
template <class W> QUIRE_NOINLINE void totalsBlock256(const SupertileJob &job) {
  const Int8View<const std::byte> x = int8View(
      job.activation, ActivationFormat::Int8By256, job.allRows, job.inputs);
  clearTotals(job);
  if (job.rows < kDirectRows) {
    directPasses(job.rows, DirectBlock256<W>{job, x});
    return;
  }
  const int64_t blocks = job.inputs / layout::kBlock;
  const UnpackedBlock256 unpacked = unpackedBlock256(job.block);
  for (int64_t b = 0; b < blocks; ++b) {
    const std::byte *block = job.weight + b * W::kUnitBytes;
    unpackScales<W>(block, unpacked);
    unpackLines<W>(block, unpacked);
    prefetchNextBlock(block, W::kUnitBytes);
    walkBlock256<typename W::Maths>(unpacked, x, b, job.firstRow, job.rows,
                                    job.totals);
  }
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
