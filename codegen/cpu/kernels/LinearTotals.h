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
