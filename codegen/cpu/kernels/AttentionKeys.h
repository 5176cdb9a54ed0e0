// Where the keys of an attention block stand in the cache, and bringing them
// and their values into scratch, a panel of 64 dimensions at a time: panels
// are 16 KB, so that what every query of a tile reads stays in the first
// cache.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_ATTENTIONKEYS_H
#define QUIRE_CODEGEN_CPU_KERNELS_ATTENTIONKEYS_H

#include "codegen/cpu/kernels/AttentionRows.h"
#include "codegen/cpu/kernels/Transpose.h"

#include <type_traits>

namespace QUIRE_KERNEL_NAMESPACE {

inline constexpr int64_t kKeys = layout::kAttentionBlock;
inline constexpr int64_t kPanel = layout::kAttentionPanel;
/// Keys that are scored at a time at most.
inline constexpr int64_t kKeyGroup = 32;

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

template <class Args>
QUIRE_INLINE void locateKeys(const Args &args, const RowRun &run,
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
  for (int64_t k = keys.low / kKeyGroup * kKeyGroup; k < keys.low; ++k) {
    places.key[k] = places.key[keys.low];
    places.value[k] = places.value[keys.low];
  }
  for (int64_t k = keys.high; k % kKeyGroup != 0; ++k) {
    places.key[k] = places.key[keys.low];
    places.value[k] = places.value[keys.low];
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

/// Dimensions d .. d + 63 (of `dims`) of what stands at places `at`, as
/// [64 dimensions][64 keys]: lanes are keys, so that a score is one chain over
/// the dimensions.
template <class Cache>
QUIRE_INLINE void loadKeyPanel(const CacheView &cache, const KeyRange &keys,
                               const int64_t *at, int64_t d, int64_t dims,
                               float *panel) {
  const int64_t end = minimum(d + kPanel, dims);
  for (int64_t k = keys.low / kLanes * kLanes; k < keys.high; k += kLanes) {
    int64_t i = d;
    if constexpr (std::is_same_v<Cache, CacheBF16>) {
      for (; i + 32 <= end; i += 32) {
        loadKeyPairs(cache, at + k, i, panel + (i - d) * kKeys + k);
      }
    }
    for (; i < end; i += kLanes) {
      loadKeyTile<Cache>(cache, at + k, i, end - i,
                         panel + (i - d) * kKeys + k);
    }
  }
}

/// `dims` dimensions, d and on, of what stands at places `at`, as rows of
/// `stride` floats, one a key.
template <class Cache>
QUIRE_INLINE void loadValues(const CacheView &cache, const KeyRange &keys,
                             const int64_t *at, int64_t d, int64_t dims,
                             int64_t stride, float *rows) {
  constexpr int64_t bytes = sizeof(typename Cache::Element);
  for (int64_t k = keys.low; k < keys.high; ++k) {
    const std::byte *value = cache.base + at[k] + d * bytes;
    for (int64_t i = 0; i < dims; i += kLanes) {
      storeAligned(rows + k * stride + i,
                   loadCache<Cache>(value + i * bytes, dims - i));
    }
  }
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
