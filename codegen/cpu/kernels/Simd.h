// The thin vector layer: 64 bytes at a time, as 16 floats, 16 integers or 64
// bytes. Clang's vector types do the plain arithmetic on every level (two or
// four registers where 64 bytes do not fit in one); the few instructions that
// make a difference have one header per level, chosen below.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_SIMD_H
#define QUIRE_CODEGEN_CPU_KERNELS_SIMD_H

#include "codegen/cpu/kernels/Kernel.h"

namespace QUIRE_KERNEL_NAMESPACE {

typedef float F32x16 __attribute__((vector_size(64)));
typedef int32_t I32x16 __attribute__((vector_size(64)));
typedef uint32_t U32x16 __attribute__((vector_size(64)));
typedef uint16_t U16x16 __attribute__((vector_size(32)));

inline constexpr int64_t kLanes = 16;

template <class V> QUIRE_INLINE V load(const void *p) {
  V v;
  __builtin_memcpy(&v, p, sizeof(V));
  return v;
}
template <class V> QUIRE_INLINE void store(void *p, V v) {
  __builtin_memcpy(p, &v, sizeof(V));
}
/// The same where p is known to be a multiple of 64.
template <class V> QUIRE_INLINE V loadAligned(const void *p) {
  return load<V>(__builtin_assume_aligned(p, 64));
}
template <class V> QUIRE_INLINE void storeAligned(void *p, V v) {
  store(__builtin_assume_aligned(p, 64), v);
}
template <class T> QUIRE_INLINE T loadScalar(const void *p) {
  T value;
  __builtin_memcpy(&value, p, sizeof(T));
  return value;
}

QUIRE_INLINE F32x16 splat(float x) { return F32x16{} + x; }
QUIRE_INLINE I32x16 splat(int32_t x) { return I32x16{} + x; }
QUIRE_INLINE U32x16 splat(uint32_t x) { return U32x16{} + x; }

template <class To, class From> QUIRE_INLINE To bitCast(From v) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, v);
}

QUIRE_INLINE F32x16 toFloat(I32x16 v) {
  return __builtin_convertvector(v, F32x16);
}
QUIRE_INLINE F32x16 max(F32x16 a, F32x16 b) { return a > b ? a : b; }
QUIRE_INLINE F32x16 min(F32x16 a, F32x16 b) { return a < b ? a : b; }
QUIRE_INLINE F32x16 abs(F32x16 v) {
  return bitCast<F32x16>(bitCast<U32x16>(v) & 0x7fffffffu);
}

/// Sums in one fixed tree: lane i with lane i + 8, then 4, 2, 1.
QUIRE_INLINE float sumLanes(F32x16 v) {
  v += __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3,
                               4, 5, 6, 7);
  v += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1,
                               2, 3);
  v += __builtin_shufflevector(v, v, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3,
                               0, 1);
  return v[0] + v[1];
}
QUIRE_INLINE float maxLanes(F32x16 v) {
  v = max(v, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1,
                                     2, 3, 4, 5, 6, 7));
  v = max(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7,
                                     0, 1, 2, 3));
  v = max(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1,
                                     2, 3, 0, 1));
  return v[0] > v[1] ? v[0] : v[1];
}

/// The first `count` floats at p, zeros behind them.
QUIRE_INLINE F32x16 loadPart(const float *p, int64_t count) {
  if (count >= kLanes) {
    return load<F32x16>(p);
  }
  F32x16 v = {};
  for (int64_t i = 0; i < count; ++i) {
    v[i] = p[i];
  }
  return v;
}
QUIRE_INLINE void storePart(float *p, F32x16 v, int64_t count) {
  if (count >= kLanes) {
    store(p, v);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    p[i] = v[i];
  }
}

/// bf16 is the upper half of an f32; to bf16 rounds to nearest even and keeps
/// NaN a NaN.
QUIRE_INLINE F32x16 fromBfloat16(U16x16 v) {
  return bitCast<F32x16>(__builtin_convertvector(v, U32x16) << 16);
}
QUIRE_INLINE U16x16 toBfloat16(F32x16 v) {
  const U32x16 bits = bitCast<U32x16>(v);
  const U32x16 rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  const I32x16 isNan = v != v;
  const U32x16 kept = isNan ? (bits | 0x400000u) : rounded;
  return __builtin_convertvector(kept >> 16, U16x16);
}

} // namespace QUIRE_KERNEL_NAMESPACE

// Each level's header defines
//   fma(a, b, c)            a * b + c, fused where the level can
//   dotBytes(acc, w, x)     acc + the four products of bytes in each lane:
//                           w unsigned and below 128, x signed; exact
//   dotBytesWide(acc, w, x) the same for any unsigned w
//   dotPairs(acc, a, b)     acc + the two products of int16 in each lane
//   roundToInt(v)           nearest even
//   fromHalf(v), toHalf(v)  f16, exact and to nearest even
//   kLinear, kLatent        blocking of linear kernels and latent attention:
//                           registers differ
#if defined(__AVX512VNNI__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include "codegen/cpu/kernels/SimdAvx512.h"
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#include "codegen/cpu/kernels/SimdAvx2.h"
#else
#include "codegen/cpu/kernels/SimdPortable.h"
#endif

#endif
