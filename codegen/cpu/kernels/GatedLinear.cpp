// gated_linear_<format>: out = f(gate . activation) * (up . activation).

#include "codegen/cpu/kernels/Math.h"
#include "codegen/cpu/kernels/Totals.h"

namespace QUIRE_KERNEL_NAMESPACE {

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

template <NumberFormat format> struct GatedLinear {
  static QUIRE_INLINE int64_t tiles(const GatedLinearArgs &args) {
    return linearTiles(rowCount(args.step, args.rowSet), args.outputs);
  }

  static QUIRE_INLINE void tile(const GatedLinearArgs &args, int64_t index,
                                std::byte *scratch) {
    const int64_t rows = rowCount(args.step, args.rowSet);
    const LinearTile tile = linearTile(rows, index);
    const LinearScratch space = linearScratch(scratch);
    const int64_t at =
        tile.supertile * layout::supertileBytes(format, args.inputs);
    totals<format>({args.gate + at, args.activation, args.inputs, rows,
                    tile.firstRow, tile.rows, space.totals, space.block});
    totals<format>({args.up + at, args.activation, args.inputs, rows,
                    tile.firstRow, tile.rows, space.secondTotals, space.block});
    finish(args, tile, space);
  }

  static QUIRE_INLINE void finish(const GatedLinearArgs &args,
                                  const LinearTile &tile,
                                  const LinearScratch &space) {
    const int64_t first = tile.supertile * layout::kSupertileOutputs;
    for (int64_t r = 0; r < tile.rows; ++r) {
      float *out = args.out + (tile.firstRow + r) * args.outStride + first;
      for (int64_t n = 0; n < 64 && first + n < args.outputs; n += 16) {
        const F32x16 gate = loadAligned<F32x16>(space.totals + 64 * r + n);
        const F32x16 up = loadAligned<F32x16>(space.secondTotals + 64 * r + n);
        storePart(out + n, activate(gate, args.activationKind) * up,
                  args.outputs - first - n);
      }
    }
  }
};

} // namespace QUIRE_KERNEL_NAMESPACE

namespace quire::cpu {
#define QUIRE_GATED_LINEAR(name, format)                                       \
  QUIRE_DEFINE_KERNEL(gated_linear_##name, GatedLinearArgs,                    \
                      QUIRE_KERNEL_LEVEL::GatedLinear<NumberFormat::format>)
QUIRE_WEIGHT_FORMATS(QUIRE_GATED_LINEAR)
} // namespace quire::cpu
