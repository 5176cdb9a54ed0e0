// linear_<format>: out = weight . activation + bias.

#include "codegen/cpu/kernels/StoreTotals.h"
#include "codegen/cpu/kernels/Totals.h"

namespace QUIRE_KERNEL_NAMESPACE {

template <NumberFormat format> struct Linear {
  static QUIRE_INLINE int64_t tiles(const LinearArgs &args) {
    return linearTiles(rowCount(args.step, args.rowSet), args.outputs);
  }

  static QUIRE_INLINE void tile(const LinearArgs &args, int64_t index,
                                std::byte *scratch) {
    const int64_t rows = rowCount(args.step, args.rowSet);
    const LinearTile tile = linearTile(rows, index);
    const LinearScratch space = linearScratch(scratch);
    totals<format>({args.weight + tile.supertile * layout::supertileBytes(
                                                       format, args.inputs),
                    args.activation, args.inputs, rows, tile.firstRow,
                    tile.rows, space.totals, space.block});
    storeTotals({args.out, args.outputs, args.outStride}, args.bias, tile,
                space.totals);
  }
};

} // namespace QUIRE_KERNEL_NAMESPACE

namespace quire::cpu {
#define QUIRE_LINEAR(name, format)                                             \
  QUIRE_DEFINE_KERNEL(linear_##name, LinearArgs,                               \
                      QUIRE_KERNEL_LEVEL::Linear<NumberFormat::format>)
QUIRE_WEIGHT_FORMATS(QUIRE_LINEAR)
} // namespace quire::cpu
