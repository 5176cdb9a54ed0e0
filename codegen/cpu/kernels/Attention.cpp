// attention_<format>: paged attention with an online softmax. A tile is a
// block of rows by one KV head, so that the queries of a group, and rows of a
// prompt chunk, share the loads of keys and values.
//
// A row's numbers do not depend on that grouping. Keys come in blocks of 64
// that start at absolute positions; a block's scores, maximum, weights and
// weighted sum are computed per query in one order, and blocks are combined
// in ascending order:
//   m' = max(m, max s);  c = exp(m - m');  p_k = exp(s_k - m')
//   sum' = c sum + (sum of p in sumLanes' tree);  acc' = c acc, then
//   acc' = fma(p_k, v_k, acc') for ascending k
// Uncommitted ancestors of a tree's row take the places of their positions.

#include "codegen/cpu/kernels/AttentionBlock.h"

namespace QUIRE_KERNEL_NAMESPACE {

/// The parts of attentionScratchBytes.
struct AttentionScratch {
  float *panel; // [64][64]: keys, then values
  KeyPlaces *places;
  QueryState queries;

  QUIRE_INLINE AttentionScratch(const AttentionArgs &args, std::byte *scratch)
      : panel(reinterpret_cast<float *>(scratch)),
        places(reinterpret_cast<KeyPlaces *>(panel + kPanel * kKeys)),
        queries(layout::kAttentionRows * (args.heads / args.kvHeads),
                args.valueDim, reinterpret_cast<std::byte *>(places + 1)) {}
};

template <class Cache> struct Attention {
  /// Few rows are decoded, a tile each; many are mostly prompt chunks.
  static QUIRE_INLINE int64_t rowsPerTile(int64_t rows) {
    return rows <= 32 ? 1 : layout::kAttentionRows;
  }

  static QUIRE_INLINE int64_t tiles(const AttentionArgs &args) {
    const int64_t rows = args.step->batch->rows;
    return ceilDivide(rows, rowsPerTile(rows)) * args.kvHeads;
  }

  static QUIRE_INLINE void tile(const AttentionArgs &args, int64_t tile,
                                std::byte *scratch) {
    const int64_t rows = args.step->batch->rows;
    const int64_t step = rowsPerTile(rows);
    const int64_t begin = tile / args.kvHeads * step;
    attendRows(args, begin, minimum(rows, begin + step), tile % args.kvHeads,
               scratch);
  }

  static QUIRE_NOINLINE void attendRows(const AttentionArgs &args,
                                        int64_t begin, int64_t end,
                                        int64_t head, std::byte *scratch) {
    const AttentionScratch space(args, scratch);
    const RowMap rows(*args.step->batch, kBatchRows);
    for (int64_t row = begin; row < end;) {
      const RowRun run = runAt(args, rows, row, end);
      if (isDead(args, row)) {
        const int64_t group = args.heads / args.kvHeads;
        clearOut(outOf(args, row, head, 0), group * args.valueDim);
      } else {
        attend(args, run, head, space);
      }
      row += run.count;
    }
  }

  /// The first position that a row sees.
  static QUIRE_INLINE int64_t lowest(const AttentionArgs &args,
                                     int64_t position) {
    return args.window > 0 ? maximum(0, position - args.window + 1) : 0;
  }

  static QUIRE_INLINE float *outOf(const AttentionArgs &args, int64_t row,
                                   int64_t head, int64_t query) {
    const int64_t group = args.heads / args.kvHeads;
    return args.out + (row * args.heads + head * group + query) * args.valueDim;
  }

  static QUIRE_INLINE void attend(const AttentionArgs &args, const RowRun &run,
                                  int64_t head, const AttentionScratch &space) {
    const int64_t group = args.heads / args.kvHeads;
    const int64_t firstPosition = args.step->batch->position[run.first];
    const int64_t lastPosition = firstPosition + run.count - 1;
    space.queries.start(run.count * group);
    const int64_t begin = lowest(args, firstPosition);
    for (int64_t base = begin / kKeys * kKeys; base <= lastPosition;
         base += kKeys) {
      attendBlock(args, run, head,
                  {base, maximum(base, begin) - base,
                   minimum(base + kKeys, lastPosition + 1) - base},
                  space);
    }
    for (int64_t q = 0; q < run.count * group; ++q) {
      space.queries.finish(q, args.valueDim,
                           outOf(args, run.first + q / group, head, q % group));
    }
  }

  static QUIRE_INLINE void attendBlock(const AttentionArgs &args,
                                       const RowRun &run, int64_t head,
                                       const KeyRange &keys,
                                       const AttentionScratch &space) {
    const int64_t queries = run.count * (args.heads / args.kvHeads);
    const CacheView cache = cacheView<Cache>(args);
    locateKeys(args, run, cache, head, keys, *space.places);
    for (int64_t d = 0; d < args.keyDim; d += kPanel) {
      loadKeyPanel<Cache>(cache, keys, space.places->key, d, args.keyDim,
                          space.panel);
      int64_t q = 0;
      for (; q + 4 <= queries; q += 4) {
        addDotsOf<4>(args, run, head, q, d, space);
      }
      for (; q < queries; ++q) {
        addDotsOf<1>(args, run, head, q, d, space);
      }
    }
    for (int64_t q = 0; q < queries; ++q) {
      const KeyRange seen = seenBy(args, run, q, keys);
      if (seen.low < seen.high) {
        joinSoftmax(
            {static_cast<float>(args.scale), static_cast<float>(args.softcap)},
            q, seen.low, seen.high, space.queries);
      }
    }
    for (int64_t d = 0; d < args.valueDim; d += kPanel) {
      loadValues<Cache>(cache, keys, space.places->value, d,
                        minimum(kPanel, args.valueDim - d), kPanel,
                        space.panel);
      for (int64_t q = 0; q < queries; ++q) {
        addPanelValues(q, seenBy(args, run, q, keys), d, space.panel,
                       space.queries);
      }
    }
  }

  /// The part of a block's keys that query q sees.
  static QUIRE_INLINE KeyRange seenBy(const AttentionArgs &args,
                                      const RowRun &run, int64_t q,
                                      const KeyRange &keys) {
    const int64_t position =
        args.step->batch->position[run.first] + q / (args.heads / args.kvHeads);
    return {keys.base, maximum(keys.low, lowest(args, position) - keys.base),
            minimum(keys.high, position + 1 - keys.base)};
  }

  template <int count>
  static QUIRE_INLINE void addDotsOf(const AttentionArgs &args,
                                     const RowRun &run, int64_t head, int64_t q,
                                     int64_t d, const AttentionScratch &space) {
    const int64_t group = args.heads / args.kvHeads;
    const float *query[count];
    for (int i = 0; i < count; ++i) {
      query[i] = args.query + (run.first + (q + i) / group) * args.queryStride +
                 (head * group + (q + i) % group) * args.keyDim + d;
    }
    addDots<count>(query, minimum(kPanel, args.keyDim - d), space.panel, d == 0,
                   space.queries.scores + q * kKeys);
  }
};

} // namespace QUIRE_KERNEL_NAMESPACE

namespace quire::cpu {
QUIRE_DEFINE_KERNEL(attention_f32, AttentionArgs,
                    QUIRE_KERNEL_LEVEL::Attention<QUIRE_KERNEL_LEVEL::CacheF32>)
QUIRE_DEFINE_KERNEL(attention_f16, AttentionArgs,
                    QUIRE_KERNEL_LEVEL::Attention<QUIRE_KERNEL_LEVEL::CacheF16>)
QUIRE_DEFINE_KERNEL(
    attention_bf16, AttentionArgs,
    QUIRE_KERNEL_LEVEL::Attention<QUIRE_KERNEL_LEVEL::CacheBF16>)
} // namespace quire::cpu
