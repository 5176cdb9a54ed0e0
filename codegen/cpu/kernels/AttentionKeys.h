// Where the keys of an attention block stand in the cache, and bringing them
// and their values into scratch, a panel of 64 dimensions at a time: panels
// are 16 KB, so that what every query of a tile reads stays in the first
// cache.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_ATTENTIONKEYS_H
#define QUIRE_CODEGEN_CPU_KERNELS_ATTENTIONKEYS_H

#include "codegen/cpu/kernels/Cache.h"
#include "codegen/cpu/kernels/Transpose.h"

#include <type_traits>

namespace QUIRE_KERNEL_NAMESPACE {

inline constexpr int64_t kKeys = layout::kAttentionBlock;
inline constexpr int64_t kPanel = layout::kAttentionPanel;

/// Rows first .. first + count - 1 of one sequence, at consecutive positions,
/// whose keys are all found through the page table; or one row of any kind.
struct RowRun {
  int64_t first;
  int64_t count;
};

/// Keys low .. high - 1 of the block that starts at position `base`.
struct KeyRange {
  int64_t base;
  int64_t low;
  int64_t high;
};

/// Bytes from the layer's base to each key and value of a block.
struct KeyPlaces {
  int64_t key[kKeys];
  int64_t value[kKeys];
};

QUIRE_INLINE int64_t tableSlot(const AttentionArgs &args, int64_t row,
                               int64_t position) {
  const QuireBatch &batch = *args.step->batch;
  const int64_t page = position / args.pageSize;
  const int64_t entry =
      static_cast<int64_t>(batch.sequence[row]) * batch.maxPages + page;
  return batch.pageTable[args.group][entry] * args.pageSize + position -
         page * args.pageSize;
}

/// The slot of a position that the page table does not answer for: the row's
/// own, or an uncommitted ancestor's.
QUIRE_INLINE int64_t looseSlot(const AttentionArgs &args, int64_t row,
                               int64_t position) {
  const QuireBatch &batch = *args.step->batch;
  if (position == batch.position[row]) {
    return batch.slot[args.group][row];
  }
  return batch.ancestor[args.group][batch.ancestorBegin[row] + position -
                                    batch.context[row]];
}

QUIRE_INLINE void locateKeys(const AttentionArgs &args, const RowRun &run,
                             const CacheView &cache, int64_t head,
                             const KeyRange &keys, KeyPlaces &places) {
  const QuireBatch &batch = *args.step->batch;
  const int64_t last = run.first + run.count - 1;
  const int64_t inTable =
      run.count > 1 ? batch.position[last] + 1 : batch.context[last];
  const int32_t *table =
      batch.pageTable[args.group] +
      static_cast<int64_t>(batch.sequence[last]) * batch.maxPages;
  int64_t entry = (keys.base + keys.low) / args.pageSize;
  int64_t offset = keys.base + keys.low - entry * args.pageSize;
  for (int64_t k = keys.low; k < keys.high; ++k) {
    int64_t page = 0, within = offset;
    if (keys.base + k < inTable) {
      page = table[entry];
    } else {
      const int64_t slot = looseSlot(args, last, keys.base + k);
      page = slot / args.pageSize;
      within = slot - page * args.pageSize;
    }
    places.key[k] = cache.keyAt(page, within, head);
    places.value[k] = cache.valueAt(page, within, head);
    if (++offset == args.pageSize) {
      offset = 0;
      ++entry;
    }
  }
  // Lanes of no key read the first key; their scores are never used.
  for (int64_t k = keys.low / kLanes * kLanes; k < keys.low; ++k) {
    places.key[k] = places.key[keys.low];
  }
  for (int64_t k = keys.high; k % kLanes != 0; ++k) {
    places.key[k] = places.key[keys.low];
  }
}

/// 16 dimensions of 16 keys.
template <class Cache>
QUIRE_INLINE void loadKeyTile(const CacheView &cache, const int64_t *at,
                              int64_t d, int64_t count, float *to) {
  constexpr int64_t bytes = sizeof(typename Cache::Element);
  F32x16 rows[16];
  for (int64_t i = 0; i < kLanes; ++i) {
    rows[i] = loadCache<Cache>(cache.base + at[i] + d * bytes, count);
  }
  transpose(rows);
  for (int64_t i = 0; i < kLanes; ++i) {
    storeAligned(to + i * kKeys, rows[i]);
  }
}

/// 32 dimensions of 16 keys in bf16, which transpose two at a time as the
/// halves of 32-bit lanes.
QUIRE_INLINE void loadKeyPairs(const CacheView &cache, const int64_t *at,
                               int64_t d, float *to) {
  F32x16 rows[16];
  for (int64_t i = 0; i < kLanes; ++i) {
    rows[i] = load<F32x16>(cache.base + at[i] + d * 2);
  }
  transpose(rows);
  for (int64_t i = 0; i < kLanes; ++i) {
    const U32x16 pair = bitCast<U32x16>(rows[i]);
    storeAligned(to + 2 * i * kKeys, bitCast<F32x16>(pair << 16));
    storeAligned(to + (2 * i + 1) * kKeys, bitCast<F32x16>(pair & 0xffff0000u));
  }
}

/// Dimensions d .. d + 63 of a block's keys as [64 dimensions][64 keys]: lanes
/// are keys, so that a score is one chain over the dimensions.
template <class Cache>
QUIRE_INLINE void loadKeyPanel(const AttentionArgs &args,
                               const CacheView &cache, const KeyRange &keys,
                               const KeyPlaces &places, int64_t d,
                               float *panel) {
  const int64_t end = minimum(d + kPanel, args.keyDim);
  for (int64_t k = keys.low / kLanes * kLanes; k < keys.high; k += kLanes) {
    int64_t i = d;
    if constexpr (std::is_same_v<Cache, CacheBF16>) {
      for (; i + 32 <= end; i += 32) {
        loadKeyPairs(cache, places.key + k, i, panel + (i - d) * kKeys + k);
      }
    }
    for (; i < end; i += kLanes) {
      loadKeyTile<Cache>(cache, places.key + k, i, end - i,
                         panel + (i - d) * kKeys + k);
    }
  }
}

/// Dimensions d .. d + 63 of a block's values as [64 keys][64 dimensions].
template <class Cache>
QUIRE_INLINE void loadValuePanel(const AttentionArgs &args,
                                 const CacheView &cache, const KeyRange &keys,
                                 const KeyPlaces &places, int64_t d,
                                 float *panel) {
  constexpr int64_t bytes = sizeof(typename Cache::Element);
  const int64_t end = minimum(d + kPanel, args.valueDim);
  for (int64_t k = keys.low; k < keys.high; ++k) {
    const std::byte *value = cache.base + places.value[k];
    for (int64_t i = d; i < end; i += kLanes) {
      storeAligned(panel + k * kPanel + i - d,
                   loadCache<Cache>(value + i * bytes, end - i));
    }
  }
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
