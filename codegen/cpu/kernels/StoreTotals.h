// From a tile's sums to the output, for plain and for gated products.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_STORETOTALS_H
#define QUIRE_CODEGEN_CPU_KERNELS_STORETOTALS_H

#include "codegen/cpu/kernels/LinearTotals.h"
#include "codegen/cpu/kernels/Math.h"

namespace QUIRE_KERNEL_NAMESPACE {

/// Where a product's rows go.
struct ProductOutput {
  float *out; // [rows, outputs], rows `stride` floats apart
  int64_t outputs;
  int64_t stride;
};

QUIRE_INLINE void storeTotals(const ProductOutput &to, const float *bias,
                              const LinearTile &tile, const float *totals) {
  const int64_t first = tile.supertile * layout::kSupertileOutputs;
  for (int64_t n = 0; n < 64 && first + n < to.outputs; n += 16) {
    const int64_t count = to.outputs - first - n;
    const F32x16 added = bias ? loadPart(bias + first + n, count) : F32x16{};
    for (int64_t r = 0; r < tile.rows; ++r) {
      float *out = to.out + (tile.firstRow + r) * to.stride + first + n;
      const F32x16 sum = loadAligned<F32x16>(totals + 64 * r + n);
      storePart(out, bias ? sum + added : sum, count);
    }
  }
}

QUIRE_INLINE F32x16 activate(F32x16 x, int64_t kind) {
  switch (kind) {
  case kGeluTanh:
    return geluTanh(x);
  case kGelu:
    return gelu(x);
  default:
    return silu(x);
  }
}

QUIRE_INLINE void storeGatedTotals(const ProductOutput &to, int64_t kind,
                                   const LinearTile &tile,
                                   const LinearScratch &space) {
  const int64_t first = tile.supertile * layout::kSupertileOutputs;
  for (int64_t r = 0; r < tile.rows; ++r) {
    float *out = to.out + (tile.firstRow + r) * to.stride + first;
    for (int64_t n = 0; n < 64 && first + n < to.outputs; n += 16) {
      const F32x16 gate = loadAligned<F32x16>(space.totals + 64 * r + n);
      const F32x16 up = loadAligned<F32x16>(space.secondTotals + 64 * r + n);
      storePart(out + n, activate(gate, kind) * up, to.outputs - first - n);
    }
  }
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
