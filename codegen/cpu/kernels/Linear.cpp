// linear_<format>: out = weight . activation + bias.

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
    finish(args, tile, space.totals);
  }

  static QUIRE_INLINE void finish(const LinearArgs &args,
                                  const LinearTile &tile, const float *totals) {
    const int64_t first = tile.supertile * layout::kSupertileOutputs;
    for (int64_t n = 0; n < 64 && first + n < args.outputs; n += 16) {
      const int64_t count = args.outputs - first - n;
      const F32x16 bias =
          args.bias ? loadPart(args.bias + first + n, count) : F32x16{};
      for (int64_t r = 0; r < tile.rows; ++r) {
        float *out =
            args.out + (tile.firstRow + r) * args.outStride + first + n;
        const F32x16 sum = loadAligned<F32x16>(totals + 64 * r + n);
        storePart(out, args.bias ? sum + bias : sum, count);
      }
    }
  }
};

} // namespace QUIRE_KERNEL_NAMESPACE

namespace quire::cpu {
#define QUIRE_LINEAR(name, format)                                             \
  QUIRE_DEFINE_KERNEL(linear_##name, LinearArgs,                               \
                      QUIRE_KERNEL_LEVEL::Linear<NumberFormat::format>)
QUIRE_WEIGHT_FORMATS(QUIRE_LINEAR)
} // namespace quire::cpu
