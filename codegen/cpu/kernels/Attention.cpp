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

#include "codegen/cpu/kernels/Cache.h"
#include "codegen/cpu/kernels/Math.h"
#include "codegen/cpu/kernels/Transpose.h"

namespace QUIRE_KERNEL_NAMESPACE {

inline constexpr int64_t kKeys = layout::kAttentionBlock;

/// The parts of attentionScratchBytes.
struct AttentionScratch {
  float *keys;    // [keyDim][64]
  float *values;  // [64][wide]
  float *scores;  // [queries][64]
  float *sums;    // [queries][wide]
  float *highest; // [queries]
  float *total;   // [queries]
  int64_t *slots; // [64]
  int64_t wide;   // valueDim in whole vectors

  QUIRE_INLINE AttentionScratch(const AttentionArgs &args, std::byte *scratch) {
    const int64_t queries =
        layout::kAttentionRows * (args.heads / args.kvHeads);
    wide = layout::alignUp(args.valueDim, kLanes);
    keys = reinterpret_cast<float *>(scratch);
    values = keys + kKeys * layout::alignUp(args.keyDim, kLanes);
    scores = values + kKeys * wide;
    sums = scores + kKeys * queries;
    highest = sums + wide * queries;
    total = highest + queries;
    slots = reinterpret_cast<int64_t *>(highest +
                                        layout::alignUp(2 * queries, kLanes));
  }
};

/// Rows first .. first + count - 1 of one sequence, at consecutive positions,
/// whose earlier tokens are all found through the page table; or one row of
/// any kind.
struct RowRun {
  int64_t first;
  int64_t count;
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
    const int64_t head = tile % args.kvHeads;
    const int64_t begin = tile / args.kvHeads * step;
    const int64_t end = minimum(rows, begin + step);
    const AttentionScratch space(args, scratch);
    for (int64_t row = begin; row < end;) {
      const RowRun run = runAt(args, row, end);
      if (args.step->batch->slot[args.group][row] < 0) {
        clear(args, row, head);
      } else {
        attend(args, run, head, space);
      }
      row += run.count;
    }
  }

  /// A row whose keys, its own included, stand where the page table says.
  static QUIRE_INLINE bool isPlain(const AttentionArgs &args, int64_t row) {
    const QuireBatch &batch = *args.step->batch;
    return batch.slot[args.group][row] >= 0 &&
           batch.context[row] == batch.position[row] &&
           batch.slot[args.group][row] ==
               tableSlot(args, row, batch.position[row]);
  }

  static QUIRE_INLINE RowRun runAt(const AttentionArgs &args, int64_t row,
                                   int64_t end) {
    const QuireBatch &batch = *args.step->batch;
    int64_t next = row + 1;
    if (next < end && isPlain(args, row)) {
      while (next < end && batch.sequence[next] == batch.sequence[row] &&
             batch.position[next] == batch.position[next - 1] + 1 &&
             isPlain(args, next)) {
        ++next;
      }
    }
    return {row, next - row};
  }

  static QUIRE_INLINE int64_t tableSlot(const AttentionArgs &args, int64_t row,
                                        int64_t position) {
    const QuireBatch &batch = *args.step->batch;
    const int64_t entry =
        static_cast<int64_t>(batch.sequence[row]) * batch.maxPages +
        position / args.pageSize;
    return static_cast<int64_t>(batch.pageTable[args.group][entry]) *
               args.pageSize +
           position % args.pageSize;
  }

  /// Where the key at `position` stands for the last row of a run.
  static QUIRE_INLINE int64_t slotOf(const AttentionArgs &args,
                                     const RowRun &run, int64_t position) {
    const QuireBatch &batch = *args.step->batch;
    const int64_t last = run.first + run.count - 1;
    if (run.count > 1 || position < batch.context[last]) {
      return tableSlot(args, last, position);
    }
    if (position == batch.position[last]) {
      return batch.slot[args.group][last];
    }
    return batch.ancestor[args.group][batch.ancestorBegin[last] + position -
                                      batch.context[last]];
  }

  static QUIRE_INLINE int64_t lowest(const AttentionArgs &args,
                                     int64_t position) {
    return args.window > 0 ? maximum(0, position - args.window + 1) : 0;
  }

  static QUIRE_INLINE float *outOf(const AttentionArgs &args, int64_t row,
                                   int64_t head, int64_t query) {
    const int64_t queries = args.heads / args.kvHeads;
    return args.out +
           (row * args.heads + head * queries + query) * args.valueDim;
  }

  /// Dead rows get zeros, so that nothing undefined travels on.
  static QUIRE_INLINE void clear(const AttentionArgs &args, int64_t row,
                                 int64_t head) {
    for (int64_t q = 0; q < args.heads / args.kvHeads; ++q) {
      float *out = outOf(args, row, head, q);
      for (int64_t d = 0; d < args.valueDim; d += kLanes) {
        storePart(out + d, F32x16{}, args.valueDim - d);
      }
    }
  }

  static QUIRE_NOINLINE void attend(const AttentionArgs &args,
                                    const RowRun &run, int64_t head,
                                    const AttentionScratch &space) {
    const QuireBatch &batch = *args.step->batch;
    const int64_t group = args.heads / args.kvHeads;
    const int64_t queries = run.count * group;
    const int64_t firstPosition = batch.position[run.first];
    const int64_t lastPosition = firstPosition + run.count - 1;
    for (int64_t q = 0; q < queries; ++q) {
      space.highest[q] = -__builtin_inff();
      space.total[q] = 0.0f;
      for (int64_t d = 0; d < space.wide; d += kLanes) {
        storeAligned(space.sums + q * space.wide + d, F32x16{});
      }
    }
    const int64_t begin = lowest(args, firstPosition);
    for (int64_t base = begin / kKeys * kKeys; base <= lastPosition;
         base += kKeys) {
      const int64_t low = maximum(base, begin) - base;
      const int64_t high = minimum(base + kKeys, lastPosition + 1) - base;
      loadBlock(args, run, head, base, low, high, space);
      scoreQueries(args, run, head, queries, space);
      for (int64_t q = 0; q < queries; ++q) {
        const int64_t position = firstPosition + q / group;
        const int64_t first = maximum(low, lowest(args, position) - base);
        const int64_t last = minimum(high, position + 1 - base);
        if (first < last) {
          combine(args, q, first, last, space);
        }
      }
    }
    for (int64_t q = 0; q < queries; ++q) {
      const F32x16 inverse = splat(1.0f / space.total[q]);
      float *out = outOf(args, run.first + q / group, head, q % group);
      for (int64_t d = 0; d < args.valueDim; d += kLanes) {
        storePart(out + d,
                  loadAligned<F32x16>(space.sums + q * space.wide + d) *
                      inverse,
                  args.valueDim - d);
      }
    }
  }

  /// Keys low .. high - 1 of the block at `base`, transposed, and their
  /// values; zeros in the other lanes.
  static QUIRE_INLINE void loadBlock(const AttentionArgs &args,
                                     const RowRun &run, int64_t head,
                                     int64_t base, int64_t low, int64_t high,
                                     const AttentionScratch &space) {
    constexpr int64_t bytes = sizeof(typename Cache::Element);
    const CacheView cache = cacheView<Cache>(args);
    for (int64_t k = low; k < high; ++k) {
      space.slots[k] = slotOf(args, run, base + k);
      const std::byte *value = cache.value(space.slots[k], head);
      for (int64_t d = 0; d < args.valueDim; d += kLanes) {
        storeAligned(space.values + k * space.wide + d,
                     loadCache<Cache>(value + d * bytes, args.valueDim - d));
      }
    }
    for (int64_t k = low / kLanes * kLanes; k < high; k += kLanes) {
      for (int64_t d = 0; d < args.keyDim; d += kLanes) {
        F32x16 rows[16];
        for (int64_t i = 0; i < kLanes; ++i) {
          rows[i] = F32x16{};
          if (k + i >= low && k + i < high) {
            rows[i] = loadCache<Cache>(cache.key(space.slots[k + i], head) +
                                           d * bytes,
                                       args.keyDim - d);
          }
        }
        transpose(rows);
        for (int64_t i = 0; i < kLanes; ++i) {
          storeAligned(space.keys + (d + i) * kKeys + k, rows[i]);
        }
      }
    }
  }

  static QUIRE_INLINE const float *queryOf(const AttentionArgs &args,
                                           const RowRun &run, int64_t head,
                                           int64_t q) {
    const int64_t group = args.heads / args.kvHeads;
    return args.query + (run.first + q / group) * args.queryStride +
           (head * group + q % group) * args.keyDim;
  }

  /// Scores of `count` queries against all 64 lanes of the block: one chain
  /// over keyDim per score.
  template <int count>
  static QUIRE_INLINE void score(const AttentionArgs &args,
                                 const float *const *query, float *scores,
                                 const float *keys) {
    F32x16 s[count][4] = {};
    for (int64_t d = 0; d < args.keyDim; ++d) {
      for (int i = 0; i < 4; ++i) {
        const F32x16 k = loadAligned<F32x16>(keys + d * kKeys + 16 * i);
        for (int q = 0; q < count; ++q) {
          s[q][i] = fma(splat(query[q][d]), k, s[q][i]);
        }
      }
    }
    for (int q = 0; q < count; ++q) {
      for (int i = 0; i < 4; ++i) {
        F32x16 v = s[q][i] * splat(static_cast<float>(args.scale));
        if (args.softcap > 0.0) {
          const float cap = static_cast<float>(args.softcap);
          v = tanh(v / splat(cap)) * splat(cap);
        }
        storeAligned(scores + q * kKeys + 16 * i, v);
      }
    }
  }

  static QUIRE_INLINE void scoreQueries(const AttentionArgs &args,
                                        const RowRun &run, int64_t head,
                                        int64_t queries,
                                        const AttentionScratch &space) {
    int64_t q = 0;
    for (; q + 4 <= queries; q += 4) {
      const float *query[4];
      for (int i = 0; i < 4; ++i) {
        query[i] = queryOf(args, run, head, q + i);
      }
      score<4>(args, query, space.scores + q * kKeys, space.keys);
    }
    for (; q < queries; ++q) {
      const float *query[1] = {queryOf(args, run, head, q)};
      score<1>(args, query, space.scores + q * kKeys, space.keys);
    }
  }

  /// Adds keys first .. last - 1 of the block to query q's running softmax.
  static QUIRE_INLINE void combine(const AttentionArgs &args, int64_t q,
                                   int64_t first, int64_t last,
                                   const AttentionScratch &space) {
    const I32x16 lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const F32x16 nothing = splat(-__builtin_inff());
    float *scores = space.scores + q * kKeys;
    F32x16 s[4];
    F32x16 highest = nothing;
    for (int i = 0; i < 4; ++i) {
      const I32x16 key = lane + 16 * i;
      const I32x16 counts = (key >= static_cast<int32_t>(first)) &
                            (key < static_cast<int32_t>(last));
      s[i] = counts ? loadAligned<F32x16>(scores + 16 * i) : nothing;
      highest = max(highest, s[i]);
    }
    const float before = space.highest[q];
    const float blockHighest = maxLanes(highest);
    const float now = before > blockHighest ? before : blockHighest;
    const F32x16 correction = exp(splat(before - now));
    for (int i = 0; i < 4; ++i) {
      s[i] = exp(s[i] - splat(now));
      storeAligned(scores + 16 * i, s[i]);
    }
    space.highest[q] = now;
    space.total[q] = space.total[q] * correction[0] +
                     sumLanes((s[0] + s[1]) + (s[2] + s[3]));
    float *sums = space.sums + q * space.wide;
    int64_t d = 0;
    for (; d + 64 <= space.wide; d += 64) {
      weigh<4>(scores, first, last, correction, space.values + d, space.wide,
               sums + d);
    }
    for (; d < space.wide; d += 16) {
      weigh<1>(scores, first, last, correction, space.values + d, space.wide,
               sums + d);
    }
  }

  template <int vectors>
  static QUIRE_INLINE void
  weigh(const float *weights, int64_t first, int64_t last, F32x16 correction,
        const float *values, int64_t wide, float *sums) {
    F32x16 acc[vectors];
    for (int i = 0; i < vectors; ++i) {
      acc[i] = loadAligned<F32x16>(sums + 16 * i) * correction;
    }
    for (int64_t k = first; k < last; ++k) {
      const F32x16 weight = splat(weights[k]);
      for (int i = 0; i < vectors; ++i) {
        acc[i] = fma(weight, loadAligned<F32x16>(values + k * wide + 16 * i),
                     acc[i]);
      }
    }
    for (int i = 0; i < vectors; ++i) {
      storeAligned(sums + 16 * i, acc[i]);
    }
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
