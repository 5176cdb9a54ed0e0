// expert_linear_<format> and expert_gated_linear_<format>: each pair's row
// times its expert's matrix. A tile is (touched expert, supertile); tiles are
// counted from the rows of the step alone, so that workers agree on them
// without having read the pairs, and those beyond the touched experts have
// nothing to do.

#include "codegen/cpu/kernels/Pairs.h"
#include "codegen/cpu/kernels/StoreTotals.h"
#include "codegen/cpu/kernels/Totals.h"

namespace QUIRE_KERNEL_NAMESPACE {

/// Calls body(expert, allRows, tile) for the row chunks of one tile.
template <class Args, class Body>
QUIRE_INLINE void forExpertTile(const Args &args, int64_t index, Body body) {
  const Pairs<const int32_t> pairs =
      pairsAt(args.pairs, args.step, args.experts, args.top);
  const int64_t supertiles = layout::supertiles(args.outputs);
  const int64_t number = index / supertiles;
  if (number >= *pairs.touched) {
    return;
  }
  const int64_t end = pairs.begin[number + 1];
  for (int64_t first = pairs.begin[number]; first < end;
       first += layout::kLinearRows) {
    body(pairs.expert[number], pairs.shape.pairs(),
         LinearTile{index % supertiles, first,
                    minimum(end - first, layout::kLinearRows)});
  }
}

template <class Args> QUIRE_INLINE int64_t expertTiles(const Args &args) {
  const int64_t pairs = args.step->batch->rows * args.top;
  return minimum(args.experts, pairs) * layout::supertiles(args.outputs);
}

/// Where a supertile of one expert's matrix begins.
template <NumberFormat format, class Args>
QUIRE_INLINE int64_t supertileAt(const Args &args, int64_t expert,
                                 const LinearTile &tile) {
  return (expert * layout::supertiles(args.outputs) + tile.supertile) *
         layout::supertileBytes(format, args.inputs);
}

template <NumberFormat format> struct ExpertLinear {
  static QUIRE_INLINE int64_t tiles(const ExpertLinearArgs &args) {
    return expertTiles(args);
  }

  static QUIRE_INLINE void tile(const ExpertLinearArgs &args, int64_t index,
                                std::byte *scratch) {
    const LinearScratch space = linearScratch(scratch);
    forExpertTile(args, index,
                  [&](int64_t expert, int64_t allRows, const LinearTile &tile) {
                    totals<format>(
                        {args.weight + supertileAt<format>(args, expert, tile),
                         args.activation, args.inputs, allRows, tile.firstRow,
                         tile.rows, space.totals, space.block});
                    storeTotals({args.out, args.outputs, args.outputs}, nullptr,
                                tile, space.totals);
                  });
  }
};

template <NumberFormat format> struct ExpertGatedLinear {
  static QUIRE_INLINE int64_t tiles(const ExpertGatedLinearArgs &args) {
    return expertTiles(args);
  }

  static QUIRE_INLINE void tile(const ExpertGatedLinearArgs &args,
                                int64_t index, std::byte *scratch) {
    const LinearScratch space = linearScratch(scratch);
    forExpertTile(args, index,
                  [&](int64_t expert, int64_t allRows, const LinearTile &tile) {
                    const int64_t at = supertileAt<format>(args, expert, tile);
                    totals<format>({args.gate + at, args.activation,
                                    args.inputs, allRows, tile.firstRow,
                                    tile.rows, space.totals, space.block});
                    totals<format>({args.up + at, args.activation, args.inputs,
                                    allRows, tile.firstRow, tile.rows,
                                    space.secondTotals, space.block});
                    storeGatedTotals({args.out, args.outputs, args.outputs},
                                     args.activationKind, tile, space);
                  });
  }
};

} // namespace QUIRE_KERNEL_NAMESPACE

namespace quire::cpu {
#define QUIRE_EXPERT_LINEAR(name, format)                                      \
  QUIRE_DEFINE_KERNEL(expert_linear_##name, ExpertLinearArgs,                  \
                      QUIRE_KERNEL_LEVEL::ExpertLinear<NumberFormat::format>)  \
  QUIRE_DEFINE_KERNEL(                                                         \
      expert_gated_linear_##name, ExpertGatedLinearArgs,                       \
      QUIRE_KERNEL_LEVEL::ExpertGatedLinear<NumberFormat::format>)
QUIRE_WEIGHT_FORMATS(QUIRE_EXPERT_LINEAR)
} // namespace quire::cpu
