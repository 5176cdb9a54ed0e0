// head_linear_<format> and head_linear_t_<format>: every head's inputs times
// that head's own matrix, in f32 on decoded weights. Panels of 64 x 64 weights
// are decoded once for all rows of a tile; the order is LinearFloat.h's, chains
// of 64 inputs. The transposed product finds a panel's outputs along K, so it
// turns the panel around.

#include "codegen/cpu/kernels/DecodePanel.h"
#include "codegen/cpu/kernels/StoreTotals.h"
#include "codegen/cpu/kernels/Transpose.h"

namespace QUIRE_KERNEL_NAMESPACE {

template <NumberFormat format, bool transposed> struct HeadLinear {
  static QUIRE_INLINE int64_t tilesOfHead(const HeadLinearArgs &args) {
    return linearTiles(rowCount(args.step, args.rowSet), args.outputs);
  }

  static QUIRE_INLINE int64_t tiles(const HeadLinearArgs &args) {
    return args.heads * tilesOfHead(args);
  }

  static QUIRE_INLINE void tile(const HeadLinearArgs &args, int64_t index,
                                std::byte *scratch) {
    const int64_t perHead = tilesOfHead(args);
    const int64_t rows = rowCount(args.step, args.rowSet);
    product(args, index / perHead, linearTile(rows, index % perHead), scratch);
  }

  static QUIRE_NOINLINE void product(const HeadLinearArgs &args, int64_t head,
                                     const LinearTile &tile,
                                     std::byte *scratch) {
    const LinearScratch space = linearScratch(scratch);
    float *panel = space.secondTotals;
    for (int64_t i = 0; i < tile.rows * 4; ++i) {
      storeAligned(space.totals + 16 * i, F32x16{});
    }
    const int64_t stride = args.heads * args.inputs;
    const float *x = args.x + tile.firstRow * stride + head * args.inputs;
    for (int64_t k = 0; k < args.inputs; k += kFloatChain) {
      loadPanel(args, head, tile.supertile, k, panel);
      walkFloat(panel, minimum(kFloatChain, args.inputs - k), {x + k, stride},
                tile.rows, space.totals);
    }
    storeTotals({args.out + head * args.outputs, args.outputs,
                 args.heads * args.outputs},
                nullptr, tile, space.totals);
  }

  /// Weights of inputs k .. k + 63 and 64 outputs as [inputs][64 outputs].
  static QUIRE_INLINE void loadPanel(const HeadLinearArgs &args, int64_t head,
                                     int64_t supertile, int64_t k,
                                     float *panel) {
    const int64_t packedRows = transposed ? args.inputs : args.outputs;
    const int64_t packedInputs = transposed ? args.outputs : args.inputs;
    const int64_t number = head * layout::supertiles(packedRows) +
                           (transposed ? k / 64 : supertile);
    const int64_t from = transposed ? 64 * supertile : k;
    decodePanel<format>(
        args.weight + number * layout::supertileBytes(format, packedInputs),
        from, minimum(kDecodedValues, packedInputs - from), panel);
    if constexpr (transposed) {
      transposePanel(panel);
    }
  }
};

template <NumberFormat format>
using PlainHeadLinear = HeadLinear<format, false>;
template <NumberFormat format>
using TransposedHeadLinear = HeadLinear<format, true>;

} // namespace QUIRE_KERNEL_NAMESPACE

namespace quire::cpu {
#define QUIRE_HEAD_LINEAR(name, format)                                        \
  QUIRE_DEFINE_KERNEL(                                                         \
      head_linear_##name, HeadLinearArgs,                                      \
      QUIRE_KERNEL_LEVEL::PlainHeadLinear<NumberFormat::format>)               \
  QUIRE_DEFINE_KERNEL(                                                         \
      head_linear_t_##name, HeadLinearArgs,                                    \
      QUIRE_KERNEL_LEVEL::TransposedHeadLinear<NumberFormat::format>)
QUIRE_WEIGHT_FORMATS(QUIRE_HEAD_LINEAR)
} // namespace quire::cpu
