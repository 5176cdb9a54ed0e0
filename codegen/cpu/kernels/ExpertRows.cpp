// group_routes, dispatch and combine: from rows to the sorted pairs of rows and
// experts, and back.

#include "codegen/cpu/kernels/Activation.h"
#include "codegen/cpu/kernels/Pairs.h"
#include "codegen/cpu/kernels/Rows.h"

namespace QUIRE_KERNEL_NAMESPACE {

using layout::Route;

/// A counting sort by expert; rows are met in ascending order.
struct GroupRoutes {
  static QUIRE_INLINE int64_t tiles(const GroupRoutesArgs &) { return 1; }

  static QUIRE_INLINE void tile(const GroupRoutesArgs &args, int64_t,
                                std::byte *) {
    const Pairs<int32_t> pairs =
        pairsAt(args.pairs, args.step, args.experts, args.top);
    const Route *routes = reinterpret_cast<const Route *>(args.routes);
    const int64_t count = pairs.shape.pairs();
    for (int64_t e = 0; e < args.experts; ++e) {
      pairs.next[e] = 0;
    }
    for (int64_t i = 0; i < count; ++i) {
      ++pairs.next[routes[i].expert];
    }
    int32_t touched = 0;
    int32_t begin = 0;
    for (int64_t e = 0; e < args.experts; ++e) {
      const int32_t size = pairs.next[e];
      pairs.next[e] = begin;
      if (size != 0) {
        pairs.expert[touched] = static_cast<int32_t>(e);
        pairs.begin[touched++] = begin;
        begin += size;
      }
    }
    pairs.begin[touched] = begin;
    *pairs.touched = touched;
    for (int64_t i = 0; i < count; ++i) {
      const int32_t pair = pairs.next[routes[i].expert]++;
      pairs.pair[i] = pair;
      pairs.row[pair] = static_cast<int32_t>(i / args.top);
    }
  }
};

struct Dispatch {
  static QUIRE_INLINE int64_t tiles(const DispatchArgs &args) {
    return rowTiles(args.step->batch->rows * args.top);
  }

  static QUIRE_INLINE void tile(const DispatchArgs &args, int64_t tile,
                                std::byte *) {
    const Pairs<const int32_t> pairs =
        pairsAt(args.pairs, args.step, args.experts, args.top);
    forRows(pairs.shape.pairs(), tile, [&](int64_t pair) {
      if (args.group == 0) {
        copyFloats(args, pairs.row[pair], pair);
      } else {
        copyRounded(args, pairs.shape, pairs.row[pair], pair);
      }
    });
  }

  static QUIRE_INLINE void copyFloats(const DispatchArgs &args, int64_t row,
                                      int64_t pair) {
    const float *from =
        reinterpret_cast<const float *>(args.rows) + row * args.features;
    float *to = reinterpret_cast<float *>(args.out) + pair * args.features;
    for (int64_t i = 0; i < args.features; i += kLanes) {
      const int64_t left = args.features - i;
      storePart(to + i, loadPart(from + i, left), left);
    }
  }

  static QUIRE_INLINE void copyRounded(const DispatchArgs &args,
                                       const layout::PairTable &shape,
                                       int64_t row, int64_t pair) {
    const ActivationFormat format = args.group == 32
                                        ? ActivationFormat::Int8By32
                                        : ActivationFormat::Int8By256;
    const Int8View<const std::byte> from =
        int8View(args.rows, format, shape.rows, args.features);
    const Int8View<std::byte> to =
        int8View(args.out, format, shape.pairs(), args.features);
    const int64_t groups = layout::activationGroups(format, args.features);
    for (int64_t g = 0; g < groups; ++g) {
      __builtin_memcpy(to.values(g, pair), from.values(g, row), layout::kGroup);
    }
    if (args.group == 32) {
      for (int64_t g = 0; g < groups; ++g) {
        __builtin_memcpy(to.group32(g, pair), from.group32(g, row),
                         sizeof(Int8By32Group));
      }
    } else {
      for (int64_t b = 0; b < groups / 8; ++b) {
        __builtin_memcpy(to.block256(b, pair), from.block256(b, row),
                         sizeof(Int8By256Block));
      }
    }
  }
};

struct Combine {
  static QUIRE_INLINE int64_t tiles(const CombineArgs &args) {
    return rowTiles(args.step->batch->rows);
  }

  static QUIRE_INLINE void tile(const CombineArgs &args, int64_t tile,
                                std::byte *) {
    const Pairs<const int32_t> pairs =
        pairsAt(args.pairs, args.step, args.experts, args.top);
    const Route *routes = reinterpret_cast<const Route *>(args.routes);
    forRows(pairs.shape.rows, tile, [&](int64_t row) {
      for (int64_t i = 0; i < args.features; i += kLanes) {
        const int64_t left = args.features - i;
        F32x16 sum = {};
        for (int64_t j = row * args.top; j < (row + 1) * args.top; ++j) {
          const float *from = args.rows + pairs.pair[j] * args.features + i;
          sum = fma(splat(routes[j].weight), loadPart(from, left), sum);
        }
        storePart(args.out + row * args.features + i, sum, left);
      }
    });
  }
};

} // namespace QUIRE_KERNEL_NAMESPACE

namespace quire::cpu {
QUIRE_DEFINE_KERNEL(group_routes, GroupRoutesArgs,
                    QUIRE_KERNEL_LEVEL::GroupRoutes)
QUIRE_DEFINE_KERNEL(dispatch, DispatchArgs, QUIRE_KERNEL_LEVEL::Dispatch)
QUIRE_DEFINE_KERNEL(combine, CombineArgs, QUIRE_KERNEL_LEVEL::Combine)
} // namespace quire::cpu
