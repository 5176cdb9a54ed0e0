// The vector layer on any x86-64: SSE2 through clang's vector types and two
// instructions that have no other spelling. This level has no fused
// multiply-add, so its f32 results differ in the last bits from the others'.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_SIMDPORTABLE_H
#define QUIRE_CODEGEN_CPU_KERNELS_SIMDPORTABLE_H

#include <emmintrin.h>

namespace QUIRE_KERNEL_NAMESPACE {

struct LinearBlocking {
  int tiles;
  int rows;
};
inline constexpr LinearBlocking kBlock32Blocking = {1, 2};
inline constexpr LinearBlocking kBlock256Blocking = {1, 1};
inline constexpr LinearBlocking kFloatBlocking = {1, 2};
inline constexpr int kDirectRows = 3;
inline constexpr int kDirectPass = 1;
inline constexpr int kLatentHeadsAtOnce = 1;

struct Quarters {
  __m128i part[4];
};

QUIRE_INLINE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) { return a * b + c; }

QUIRE_INLINE I32x16 dotPairs(I32x16 acc, I32x16 a, I32x16 b) {
  const Quarters x = bitCast<Quarters>(a), y = bitCast<Quarters>(b);
  Quarters sum;
  for (int i = 0; i < 4; ++i) {
    sum.part[i] = _mm_madd_epi16(x.part[i], y.part[i]);
  }
  return acc + bitCast<I32x16>(sum);
}

typedef int16_t I16x32 __attribute__((vector_size(64)));
typedef uint16_t U16x32 __attribute__((vector_size(64)));

/// Bytes 0 and 2 of each lane, then 1 and 3, widened to 16 bits.
QUIRE_INLINE I32x16 dotBytesWide(I32x16 acc, U32x16 w, I32x16 x) {
  const U16x32 w16 = bitCast<U16x32>(w);
  const I16x32 x16 = bitCast<I16x32>(x);
  acc = dotPairs(acc, bitCast<I32x16>(w16 & 255),
                 bitCast<I32x16>((x16 << 8) >> 8));
  return dotPairs(acc, bitCast<I32x16>(w16 >> 8), bitCast<I32x16>(x16 >> 8));
}
QUIRE_INLINE I32x16 dotBytes(I32x16 acc, U32x16 w, I32x16 x) {
  return dotBytesWide(acc, w, x);
}

QUIRE_INLINE I32x16 roundToInt(F32x16 v) {
  const Quarters q = bitCast<Quarters>(v);
  Quarters rounded;
  for (int i = 0; i < 4; ++i) {
    rounded.part[i] = _mm_cvtps_epi32(_mm_castsi128_ps(q.part[i]));
  }
  return bitCast<I32x16>(rounded);
}

/// Moves the exponent by a multiplication, which also normalises f16's
/// subnormals; infinities and NaN get the full exponent.
QUIRE_INLINE F32x16 fromHalf(U16x16 v) {
  const U32x16 bits = __builtin_convertvector(v, U32x16);
  const U32x16 magnitude = (bits & 0x7fffu) << 13;
  const F32x16 scaled = bitCast<F32x16>(magnitude) * 0x1p112f;
  const I32x16 special = (bits & 0x7c00u) == 0x7c00u;
  const U32x16 finite = bitCast<U32x16>(scaled);
  const U32x16 value = special ? (magnitude | 0x7f800000u) : finite;
  return bitCast<F32x16>(value | ((bits & 0x8000u) << 16));
}

/// Adding a number whose last mantissa bit weighs as much as the result's
/// rounds to nearest even; what lies below 2^-14 rounds to a multiple of
/// 2^-24 in the same way.
QUIRE_INLINE U16x16 toHalf(F32x16 v) {
  const U32x16 bits = bitCast<U32x16>(v);
  const U32x16 sign = (bits >> 16) & 0x8000u;
  const U32x16 magnitude = bits & 0x7fffffffu;
  const U32x16 small =
      bitCast<U32x16>(bitCast<F32x16>(magnitude) + 0.5f) - 0x3f000000u;
  const U32x16 normal =
      (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  U32x16 half = magnitude < 0x38800000u ? small : normal;
  half = magnitude >= 0x477ff000u ? splat(0x7c00u) : half;
  half =
      magnitude > 0x7f800000u ? (0x7e00u | ((magnitude >> 13) & 0x3ffu)) : half;
  return __builtin_convertvector(half | sign, U16x16);
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
