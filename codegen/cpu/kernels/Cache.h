// Cache elements by format, and where a token's key or value is.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_CACHE_H
#define QUIRE_CODEGEN_CPU_KERNELS_CACHE_H

#include "codegen/cpu/kernels/Simd.h"

namespace QUIRE_KERNEL_NAMESPACE {

struct CacheF32 {
  using Element = float;
  static QUIRE_INLINE F32x16 decode(F32x16 v) { return v; }
  static QUIRE_INLINE F32x16 encode(F32x16 v) { return v; }
  using Vector = F32x16;
};
struct CacheF16 {
  using Element = uint16_t;
  using Vector = U16x16;
  static QUIRE_INLINE F32x16 decode(U16x16 v) { return fromHalf(v); }
  static QUIRE_INLINE U16x16 encode(F32x16 v) { return toHalf(v); }
};
struct CacheBF16 {
  using Element = uint16_t;
  using Vector = U16x16;
  static QUIRE_INLINE F32x16 decode(U16x16 v) { return fromBfloat16(v); }
  static QUIRE_INLINE U16x16 encode(F32x16 v) { return toBfloat16(v); }
};

/// The first `count` (at most 16) elements at p, zeros behind them.
template <class Cache>
QUIRE_INLINE F32x16 loadCache(const std::byte *p, int64_t count) {
  if (count >= kLanes) {
    return Cache::decode(load<typename Cache::Vector>(p));
  }
  typename Cache::Vector v = {};
  for (int64_t i = 0; i < count; ++i) {
    using Element = typename Cache::Element;
    v[i] = loadScalar<Element>(p + i * static_cast<int64_t>(sizeof(Element)));
  }
  return Cache::decode(v);
}

template <class Cache>
QUIRE_INLINE void storeCache(std::byte *p, F32x16 v, int64_t count) {
  const typename Cache::Vector encoded = Cache::encode(v);
  if (count >= kLanes) {
    store(p, encoded);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    using Element = typename Cache::Element;
    store<Element>(p + i * static_cast<int64_t>(sizeof(Element)), encoded[i]);
  }
}

/// Keys and values of one layer and one KV head in a group's pages.
struct CacheView {
  std::byte *base; // this layer's part of page 0
  layout::KvPage page;

  /// Bytes from `base` to a key and a value.
  QUIRE_INLINE int64_t keyAt(int64_t number, int64_t offset,
                             int64_t head) const {
    return number * page.pageBytes() +
           (head * page.pageSize + offset) * page.keyDim * page.elementBytes;
  }
  QUIRE_INLINE int64_t valueAt(int64_t number, int64_t offset,
                               int64_t head) const {
    return number * page.pageBytes() + page.keyBytes() +
           (head * page.pageSize + offset) * page.valueDim * page.elementBytes;
  }
};

/// Args is that of a kernel that reads or writes the cache.
template <class Cache, class Args>
QUIRE_INLINE CacheView cacheView(const Args &args) {
  constexpr int64_t bytes = sizeof(typename Cache::Element);
  layout::KvPage page;
  if constexpr (requires { args.kvHeads; }) {
    page = {args.kvHeads, args.keyDim,   args.valueDim,
            bytes,        args.pageSize, args.groupLayers};
  } else {
    page = {1,     args.latentDim, args.rotaryDim,
            bytes, args.pageSize,  args.groupLayers};
  }
  return {args.step->caches[args.group] +
              args.layer->indexInGroup * page.layerBytes(),
          page};
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
