// Products with weights that have one scale per 32 values, activations in
// Int8By32. Per output and row, whatever the number of rows:
//   dot   = exact int32 sum over 32 values of (code - zero) * x
//   total = fma(dot * activationScale, weightScale, total)
//   total = fma(weightMinimum, activationScale * sum(x), total)   if any
// in ascending order of groups. Few rows unpack weights in registers; many
// rows unpack a block of 256 values to scratch once and walk the rows over it.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_LINEARBLOCK32_H
#define QUIRE_CODEGEN_CPU_KERNELS_LINEARBLOCK32_H

#include "codegen/cpu/kernels/Block32Weights.h"
#include "codegen/cpu/kernels/LinearTotals.h"

namespace QUIRE_KERNEL_NAMESPACE {

template <bool wide>
QUIRE_INLINE I32x16 dotFour(I32x16 acc, U32x16 w, const std::byte *x) {
  const I32x16 four = splat(loadScalar<int32_t>(x));
  if constexpr (wide) {
    return dotBytesWide(acc, w, four);
  } else {
    return dotBytes(acc, w, four);
  }
}

/// The accumulator's start: minus zero times the sum of the activations.
template <int zero> QUIRE_INLINE I32x16 startBlock32(const std::byte *meta) {
  if constexpr (zero == 0) {
    return I32x16{};
  } else {
    return splat(loadScalar<int32_t>(meta + 8)) * (zero / 8);
  }
}

/// Adds one group to a total. W, as Block32Maths, says whether there are scales
/// and minima.
template <class W>
QUIRE_INLINE F32x16 finishBlock32(F32x16 total, I32x16 dot, F32x16 scale,
                                  F32x16 minimum, const std::byte *meta) {
  const F32x16 activationScale = splat(loadScalar<float>(meta));
  if constexpr (W::kRowScale) {
    return fma(toFloat(dot), activationScale, total);
  } else {
    total = fma(toFloat(dot) * activationScale, scale, total);
    if constexpr (W::kHasMinimum) {
      total = fma(minimum, splat(loadScalar<float>(meta + 4)), total);
    }
    return total;
  }
}

/// `rows` rows by `tiles` tiles over `groups` groups that are unpacked in
/// registers.
template <class W, int rows, int tiles, bool prefetch>
QUIRE_INLINE void directTilesBlock32(const std::byte *group, int64_t groups,
                                     const Int8View<const std::byte> &x,
                                     int64_t firstGroup, int64_t row, int tile,
                                     float *totals) {
  F32x16 total[tiles][rows];
  for (int r = 0; r < rows; ++r) {
    for (int t = 0; t < tiles; ++t) {
      total[t][r] = loadAligned<F32x16>(totals + 64 * r + 16 * (tile + t));
    }
  }
#pragma clang loop unroll(disable)
  for (int64_t g = 0; g < groups; ++g, group += W::kUnitBytes) {
    if constexpr (prefetch) {
      prefetchStream(group, W::kUnitBytes);
    }
    const std::byte *values = x.values(firstGroup + g, row);
    const std::byte *meta = x.group32(firstGroup + g, row);
#pragma clang loop unroll(full)
    for (int t = 0; t < tiles; ++t) {
      const Lines w = W::lines(group, tile + t);
      F32x16 scale = {}, minimum = {};
      if constexpr (!W::kRowScale) {
        scale = W::scale(group, tile + t);
      }
      if constexpr (W::kHasMinimum) {
        minimum = W::minimumOf(group, tile + t);
      }
#pragma clang loop unroll(full)
      for (int r = 0; r < rows; ++r) {
        I32x16 dot = startBlock32<W::kZero>(meta + 16 * r);
#pragma clang loop unroll(full)
        for (int j = 0; j < 8; ++j) {
          dot = dotFour<W::kWide>(dot, w.line[j], values + 32 * r + 4 * j);
        }
        total[t][r] =
            finishBlock32<W>(total[t][r], dot, scale, minimum, meta + 16 * r);
      }
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int t = 0; t < tiles; ++t) {
      storeAligned(totals + 64 * r + 16 * (tile + t), total[t][r]);
    }
  }
}

/// One pass over the supertile's stream. Where the tiles take turns they do
/// so within pieces of eight groups, which stay in the first cache.
template <class W> struct DirectBlock32 {
  const SupertileJob &job;
  const Int8View<const std::byte> &x;

  template <int rows> QUIRE_INLINE void run(int64_t first) const {
    constexpr int tiles = directTiles(rows);
    const int64_t groups = ceilDivide(job.inputs, layout::kGroup);
    const int64_t piece = tiles == 4 ? groups : 8;
    const std::byte *weight =
        job.weight + layout::packedFormat(W::kFormat).supertileHeaderBytes;
    const int64_t row = job.firstRow + first;
    float *totals = job.totals + 64 * first;
    for (int64_t g = 0; g < groups; g += piece) {
      const int64_t count = minimum(piece, groups - g);
      const std::byte *from = weight + g * W::kUnitBytes;
      directTilesBlock32<W, rows, tiles, true>(from, count, x, g, row, 0,
                                               totals);
      for (int t = tiles; t < 4; t += tiles) {
        directTilesBlock32<W, rows, tiles, false>(from, count, x, g, row, t,
                                                  totals);
      }
    }
  }
};

/// A block of weights unpacked to scratch: lines [8][4][8] x 64 bytes, scales
/// and minima [8][64].
struct UnpackedBlock32 {
  std::byte *lines;
  float *scale;
  float *minimum;
};
QUIRE_INLINE UnpackedBlock32 unpackedBlock32(std::byte *scratch) {
  constexpr int64_t lines = layout::kSupertileOutputs * layout::kBlock;
  float *scale = reinterpret_cast<float *>(scratch + lines);
  return {scratch, scale, scale + 16 * layout::kSupertileOutputs};
}

template <class W>
QUIRE_INLINE void unpackBlock32(const std::byte *group, int groups,
                                const UnpackedBlock32 &to) {
  for (int g = 0; g < groups; ++g, group += W::kUnitBytes) {
    for (int t = 0; t < 4; ++t) {
      const Lines w = W::lines(group, t);
      for (int j = 0; j < 8; ++j) {
        storeAligned(to.lines + ((g * 4 + t) * 8 + j) * 64, w.line[j]);
      }
      if constexpr (!W::kRowScale) {
        storeAligned(to.scale + g * 64 + t * 16, W::scale(group, t));
      }
      if constexpr (W::kHasMinimum) {
        storeAligned(to.minimum + g * 64 + t * 16, W::minimumOf(group, t));
      }
    }
  }
}

/// `rows` rows by `tiles` tiles over one unpacked block.
template <class W, int tiles, int rows>
QUIRE_INLINE void multiplyBlock32(const UnpackedBlock32 &w, int groups,
                                  const Int8View<const std::byte> &x,
                                  int64_t firstGroup, int64_t row, int tile,
                                  float *totals) {
  F32x16 total[tiles][rows];
  for (int r = 0; r < rows; ++r) {
    for (int t = 0; t < tiles; ++t) {
      total[t][r] = loadAligned<F32x16>(totals + 64 * r + 16 * (tile + t));
    }
  }
  for (int g = 0; g < groups; ++g) {
    const std::byte *values = x.values(firstGroup + g, row);
    const std::byte *meta = x.group32(firstGroup + g, row);
    I32x16 dot[tiles][rows];
    for (int r = 0; r < rows; ++r) {
      const I32x16 start = startBlock32<W::kZero>(meta + 16 * r);
      for (int t = 0; t < tiles; ++t) {
        dot[t][r] = start;
      }
    }
    const std::byte *lines = w.lines + (g * 4 + tile) * 512;
#pragma clang loop unroll(full)
    for (int j = 0; j < 8; ++j) {
      for (int r = 0; r < rows; ++r) {
        for (int t = 0; t < tiles; ++t) {
          dot[t][r] = dotFour<W::kWide>(
              dot[t][r], loadAligned<U32x16>(lines + 512 * t + 64 * j),
              values + 32 * r + 4 * j);
        }
      }
    }
    for (int t = 0; t < tiles; ++t) {
      const int64_t at = g * 64 + (tile + t) * 16;
      F32x16 scale = {}, minimum = {};
      if constexpr (!W::kRowScale) {
        scale = loadAligned<F32x16>(w.scale + at);
      }
      if constexpr (W::kHasMinimum) {
        minimum = loadAligned<F32x16>(w.minimum + at);
      }
      for (int r = 0; r < rows; ++r) {
        total[t][r] = finishBlock32<W>(total[t][r], dot[t][r], scale, minimum,
                                       meta + 16 * r);
      }
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int t = 0; t < tiles; ++t) {
      storeAligned(totals + 64 * r + 16 * (tile + t), total[t][r]);
    }
  }
}

/// All rows over one unpacked block; W is a Block32Maths.
template <class W>
QUIRE_NOINLINE void walkBlock32(const UnpackedBlock32 &w, int groups,
                                const Int8View<const std::byte> &x,
                                int64_t firstGroup, int64_t firstRow,
                                int64_t rows, float *totals) {
  constexpr int tiles = kBlock32Blocking.tiles;
  constexpr int step = kBlock32Blocking.rows;
  int64_t r = 0;
  for (; r + step <= rows; r += step) {
    for (int t = 0; t < 4; t += tiles) {
      multiplyBlock32<W, tiles, step>(w, groups, x, firstGroup, firstRow + r, t,
                                      totals + 64 * r);
    }
  }
  for (; r < rows; ++r) {
    multiplyBlock32<W, 4, 1>(w, groups, x, firstGroup, firstRow + r, 0,
                             totals + 64 * r);
  }
}

template <class W>
QUIRE_INLINE void blockedBlock32(const SupertileJob &job,
                                 const Int8View<const std::byte> &x) {
  const int64_t groups = ceilDivide(job.inputs, layout::kGroup);
  const UnpackedBlock32 unpacked = unpackedBlock32(job.block);
  const std::byte *group =
      job.weight + layout::packedFormat(W::kFormat).supertileHeaderBytes;
  for (int64_t g = 0; g < groups; g += 8) {
    const int count = static_cast<int>(minimum(groups - g, 8));
    unpackBlock32<W>(group + g * W::kUnitBytes, count, unpacked);
    prefetchNextBlock(group + g * W::kUnitBytes, count * W::kUnitBytes);
    walkBlock32<typename W::Maths>(unpacked, count, x, g, job.firstRow,
                                   job.rows, job.totals);
  }
}

/// The scale that rows of Int8Row have for all of K.
template <class W> QUIRE_INLINE void scaleRows(const SupertileJob &job) {
  if constexpr (W::kRowScale) {
    for (int64_t r = 0; r < job.rows; ++r) {
      for (int t = 0; t < 4; ++t) {
        float *total = job.totals + 64 * r + 16 * t;
        storeAligned(total, loadAligned<F32x16>(total) *
                                loadAligned<F32x16>(job.weight + 64 * t));
      }
    }
  }
}

/// Sums of one tile into job.totals.
template <class W> QUIRE_NOINLINE void totalsBlock32(const SupertileJob &job) {
  const Int8View<const std::byte> x = int8View(
      job.activation, ActivationFormat::Int8By32, job.allRows, job.inputs);
  clearTotals(job);
  if (job.rows < kDirectRows) {
    directPasses(job.rows, DirectBlock32<W>{job, x});
  } else {
    blockedBlock32<W>(job, x);
  }
  scaleRows<W>(job);
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
