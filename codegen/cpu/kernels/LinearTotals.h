// What linear and gated linear kernels share: how a product is cut into
// tiles, and the sums of one tile on their way to the output. A tile is one
// supertile of outputs (64) by up to kLinearRows rows; its f32 sums lie in
// scratch as [row][64].

#ifndef QUIRE_CODEGEN_CPU_KERNELS_LINEARTOTALS_H
#define QUIRE_CODEGEN_CPU_KERNELS_LINEARTOTALS_H

#include "codegen/cpu/kernels/Activation.h"

namespace QUIRE_KERNEL_NAMESPACE {

/// One tile of one product: 64 outputs, `rows` rows from `firstRow` on.
struct SupertileJob {
  const std::byte *weight;     // the supertile
  const std::byte *activation; // the whole step's
  int64_t inputs;
  int64_t allRows; // of the activation
  int64_t firstRow;
  int64_t rows;
  float *totals;    // [rows][64]
  std::byte *block; // scratch for an unpacked weight block and its scales
};

/// Asks for what a stream reads soon (into the first cache) and later on (into
/// the second): the hardware alone leaves a fifth of the bandwidth unused.
/// Reaching past the end of the weights is harmless.
QUIRE_INLINE void prefetchStream(const std::byte *from, int64_t bytes) {
#pragma clang loop unroll(full)
  for (int64_t line = 0; line < bytes; line += 64) {
    __builtin_prefetch(from + line + 20480, 0, 1);
    __builtin_prefetch(from + line + 2560, 0, 3);
  }
}

/// Asks for the block of the stream that comes after `bytes` from here, so that
/// it arrives while the rows are multiplied with this one.
QUIRE_INLINE void prefetchNextBlock(const std::byte *from, int64_t bytes) {
  for (int64_t line = 0; line < bytes; line += 64) {
    __builtin_prefetch(from + bytes + line, 0, 2);
  }
}

/// Output tiles that a direct pass over `rows` rows works on at a time: so
/// many that the sums of all rows stay in registers.
constexpr int directTiles(int rows) {
  return rows <= 2 ? 4 : rows <= 4 ? 2 : 1;
}

/// Calls pass.template run<rows>(firstRow) for passes of 8, 4, 2 or 1 rows
/// that make up `rows`. A row's bits do not depend on which it is part of.
template <class Pass>
QUIRE_INLINE void directPasses(int64_t rows, const Pass &pass) {
  int64_t r = 0;
  if constexpr (kDirectPass >= 8) {
    for (; rows - r >= 8; r += 8) {
      pass.template run<8>(r);
    }
    if (rows - r >= 4) {
      pass.template run<4>(r);
      r += 4;
    }
    if (rows - r >= 2) {
      pass.template run<2>(r);
      r += 2;
    }
  }
  for (; r < rows; ++r) {
    pass.template run<1>(r);
  }
}

QUIRE_INLINE void clearTotals(const SupertileJob &job) {
  for (int64_t i = 0; i < job.rows * 4; ++i) {
    storeAligned(job.totals + 16 * i, F32x16{});
  }
}

/// Where the parts of kLinearScratchBytes begin.
struct LinearScratch {
  float *totals;
  float *secondTotals;
  std::byte *block;
};
QUIRE_INLINE LinearScratch linearScratch(std::byte *scratch) {
  constexpr int64_t sums = layout::kLinearRows * layout::kSupertileOutputs;
  float *totals = reinterpret_cast<float *>(scratch);
  return {totals, totals + sums, scratch + 2 * sums * 4};
}

struct LinearTile {
  int64_t supertile;
  int64_t firstRow;
  int64_t rows;
};

/// Row chunks follow one another within a supertile, so that a worker meets
/// the same weights again while they are in its cache.
QUIRE_INLINE int64_t linearTiles(int64_t rows, int64_t outputs) {
  return ceilDivide(rows, layout::kLinearRows) * layout::supertiles(outputs);
}
QUIRE_INLINE LinearTile linearTile(int64_t rows, int64_t tile) {
  const int64_t chunks = ceilDivide(rows, layout::kLinearRows);
  const int64_t first = tile % chunks * layout::kLinearRows;
  return {tile / chunks, first, minimum(rows - first, layout::kLinearRows)};
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
