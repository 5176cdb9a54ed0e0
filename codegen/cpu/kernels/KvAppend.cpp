// kv_append_<format>: every live row's keys and values into its cache slot.

#include "codegen/cpu/kernels/Cache.h"
#include "codegen/cpu/kernels/Rows.h"

namespace QUIRE_KERNEL_NAMESPACE {

template <class Cache> struct KvAppend {
  static QUIRE_INLINE int64_t tiles(const KvAppendArgs &args) {
    return rowTiles(args.step->batch->rows);
  }

  static QUIRE_INLINE void tile(const KvAppendArgs &args, int64_t tile,
                                std::byte *) {
    const QuireBatch &batch = *args.step->batch;
    const CacheView cache = cacheView<Cache>(args);
    forRows(batch.rows, tile, [&](int64_t row) {
      const int64_t slot = batch.slot[args.group][row];
      if (slot < 0) {
        return;
      }
      const float *key = args.key + row * args.keyStride;
      const float *value = args.value + row * args.valueStride;
      const int64_t page = slot / args.pageSize;
      const int64_t offset = slot - page * args.pageSize;
      for (int64_t h = 0; h < args.kvHeads; ++h) {
        copy(key + h * args.keyDim, args.keyDim,
             cache.base + cache.keyAt(page, offset, h));
        copy(value + h * args.valueDim, args.valueDim,
             cache.base + cache.valueAt(page, offset, h));
      }
    });
  }

  static QUIRE_INLINE void copy(const float *from, int64_t count,
                                std::byte *to) {
    constexpr int64_t bytes = sizeof(typename Cache::Element);
    for (int64_t i = 0; i < count; i += kLanes) {
      storeCache<Cache>(to + i * bytes, loadPart(from + i, count - i),
                        count - i);
    }
  }
};

} // namespace QUIRE_KERNEL_NAMESPACE

namespace quire::cpu {
QUIRE_DEFINE_KERNEL(kv_append_f32, KvAppendArgs,
                    QUIRE_KERNEL_LEVEL::KvAppend<QUIRE_KERNEL_LEVEL::CacheF32>)
QUIRE_DEFINE_KERNEL(kv_append_f16, KvAppendArgs,
                    QUIRE_KERNEL_LEVEL::KvAppend<QUIRE_KERNEL_LEVEL::CacheF16>)
QUIRE_DEFINE_KERNEL(kv_append_bf16, KvAppendArgs,
                    QUIRE_KERNEL_LEVEL::KvAppend<QUIRE_KERNEL_LEVEL::CacheBF16>)
} // namespace quire::cpu
