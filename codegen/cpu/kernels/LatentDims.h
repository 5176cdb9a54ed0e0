// 32 dimensions of a cache row as two vectors of f32, in the order in which
// they are cheapest to decode: bf16 gives the even and then the odd ones (a
// shift and a mask), the other formats the lower and then the upper half.
// Queries and sums are kept in the same order while a kernel works.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_LATENTDIMS_H
#define QUIRE_CODEGEN_CPU_KERNELS_LATENTDIMS_H

#include "codegen/cpu/kernels/Cache.h"

#include <type_traits>

namespace QUIRE_KERNEL_NAMESPACE {

inline constexpr int64_t kDims = 2 * kLanes;

struct DimPair {
  F32x16 first, second;
};

template <class Cache> QUIRE_INLINE DimPair loadDims(const std::byte *p) {
  if constexpr (std::is_same_v<Cache, CacheBF16>) {
    const U32x16 both = load<U32x16>(p);
    return {bitCast<F32x16>(both << 16), bitCast<F32x16>(both & 0xffff0000u)};
  } else {
    using Vector = typename Cache::Vector;
    return {Cache::decode(load<Vector>(p)),
            Cache::decode(load<Vector>(p + sizeof(Vector)))};
  }
}

/// The first `count` elements at p, zeros behind them.
template <class Cache>
QUIRE_INLINE DimPair loadDimsPart(const std::byte *p, int64_t count) {
  if (count >= kDims) {
    return loadDims<Cache>(p);
  }
  using Element = typename Cache::Element;
  alignas(64) std::byte elements[kDims * sizeof(Element)] = {};
  for (int64_t i = 0; i < count; ++i) {
    constexpr int64_t bytes = sizeof(Element);
    store(elements + i * bytes, loadScalar<Element>(p + i * bytes));
  }
  return loadDims<Cache>(elements);
}

/// From 32 consecutive floats to the order of loadDims, and back.
template <class Cache> QUIRE_INLINE DimPair arrangeDims(DimPair v) {
  if constexpr (std::is_same_v<Cache, CacheBF16>) {
    return {__builtin_shufflevector(v.first, v.second, 0, 2, 4, 6, 8, 10, 12,
                                    14, 16, 18, 20, 22, 24, 26, 28, 30),
            __builtin_shufflevector(v.first, v.second, 1, 3, 5, 7, 9, 11, 13,
                                    15, 17, 19, 21, 23, 25, 27, 29, 31)};
  } else {
    return v;
  }
}
template <class Cache> QUIRE_INLINE DimPair restoreDims(DimPair v) {
  if constexpr (std::is_same_v<Cache, CacheBF16>) {
    return {__builtin_shufflevector(v.first, v.second, 0, 16, 1, 17, 2, 18, 3,
                                    19, 4, 20, 5, 21, 6, 22, 7, 23),
            __builtin_shufflevector(v.first, v.second, 8, 24, 9, 25, 10, 26, 11,
                                    27, 12, 28, 13, 29, 14, 30, 15, 31)};
  } else {
    return v;
  }
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
