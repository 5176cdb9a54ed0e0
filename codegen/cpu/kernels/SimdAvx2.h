// The vector layer on AVX2 with FMA and F16C: two registers hold 64 bytes.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_SIMDAVX2_H
#define QUIRE_CODEGEN_CPU_KERNELS_SIMDAVX2_H

#include <immintrin.h>

namespace QUIRE_KERNEL_NAMESPACE {

/// 16 registers: few sums at a time.
struct LinearBlocking {
  int tiles;
  int rows;
};
inline constexpr LinearBlocking kBlock32Blocking = {1, 4};
inline constexpr LinearBlocking kBlock256Blocking = {1, 2};
inline constexpr LinearBlocking kFloatBlocking = {1, 6};
inline constexpr int kDirectRows = 3;
inline constexpr int kDirectPass = 1;
inline constexpr int kLatentHeadsAtOnce = 2;

struct Halves {
  __m256i low, high;
};
template <class V> QUIRE_INLINE Halves halves(V v) {
  return bitCast<Halves>(v);
}
QUIRE_INLINE I32x16 joined(__m256i low, __m256i high) {
  return bitCast<I32x16>(Halves{low, high});
}

QUIRE_INLINE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  return __builtin_elementwise_fma(a, b, c);
}

QUIRE_INLINE __m256i dotHalf(__m256i acc, __m256i w, __m256i x) {
  // Below 128 the sum of two products stays below 2 * 127 * 127: no
  // saturation.
  const __m256i pairs = _mm256_maddubs_epi16(w, x);
  return _mm256_add_epi32(acc, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
QUIRE_INLINE I32x16 dotBytes(I32x16 acc, U32x16 w, I32x16 x) {
  const Halves a = halves(acc), b = halves(w), c = halves(x);
  return joined(dotHalf(a.low, b.low, c.low), dotHalf(a.high, b.high, c.high));
}

/// Bytes 0 and 2, then 1 and 3, widened to 16 bits.
QUIRE_INLINE __m256i dotHalfWide(__m256i acc, __m256i w, __m256i x) {
  const __m256i even =
      _mm256_madd_epi16(_mm256_and_si256(w, _mm256_set1_epi16(255)),
                        _mm256_srai_epi16(_mm256_slli_epi16(x, 8), 8));
  const __m256i odd =
      _mm256_madd_epi16(_mm256_srli_epi16(w, 8), _mm256_srai_epi16(x, 8));
  return _mm256_add_epi32(acc, _mm256_add_epi32(even, odd));
}
QUIRE_INLINE I32x16 dotBytesWide(I32x16 acc, U32x16 w, I32x16 x) {
  const Halves a = halves(acc), b = halves(w), c = halves(x);
  return joined(dotHalfWide(a.low, b.low, c.low),
                dotHalfWide(a.high, b.high, c.high));
}

QUIRE_INLINE I32x16 dotPairs(I32x16 acc, I32x16 a, I32x16 b) {
  const Halves x = halves(a), y = halves(b);
  return acc + joined(_mm256_madd_epi16(x.low, y.low),
                      _mm256_madd_epi16(x.high, y.high));
}

QUIRE_INLINE I32x16 roundToInt(F32x16 v) {
  const Halves h = halves(v);
  return joined(_mm256_cvtps_epi32(_mm256_castsi256_ps(h.low)),
                _mm256_cvtps_epi32(_mm256_castsi256_ps(h.high)));
}

QUIRE_INLINE F32x16 fromHalf(U16x16 v) {
  struct Parts {
    __m128i low, high;
  };
  const Parts p = bitCast<Parts>(v);
  return bitCast<F32x16>(joined(_mm256_castps_si256(_mm256_cvtph_ps(p.low)),
                                _mm256_castps_si256(_mm256_cvtph_ps(p.high))));
}
QUIRE_INLINE U16x16 toHalf(F32x16 v) {
  const Halves h = halves(v);
  struct Parts {
    __m128i low, high;
  };
  return bitCast<U16x16>(Parts{
      _mm256_cvtps_ph(_mm256_castsi256_ps(h.low), _MM_FROUND_TO_NEAREST_INT),
      _mm256_cvtps_ph(_mm256_castsi256_ps(h.high), _MM_FROUND_TO_NEAREST_INT)});
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
