// gated_linear_<format>: out = f(gate . activation) * (up . activation).

#include "codegen/cpu/kernels/StoreTotals.h"
#include "codegen/cpu/kernels/Totals.h"

namespace QUIRE_KERNEL_NAMESPACE {

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
    storeGatedTotals({args.out, args.outputs, args.outStride},
                     args.activationKind, tile, space);
  }
};

} // namespace QUIRE_KERNEL_NAMESPACE

namespace quire::cpu {
#define QUIRE_GATED_LINEAR(name, format)                                       \
  QUIRE_DEFINE_KERNEL(gated_linear_##name, GatedLinearArgs,                    \
                      QUIRE_KERNEL_LEVEL::GatedLinear<NumberFormat::format>)
QUIRE_WEIGHT_FORMATS(QUIRE_GATED_LINEAR)
} // namespace quire::cpu
