// The vector layer on AVX-512 with VNNI: one register holds 64 bytes.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_SIMDAVX512_H
#define QUIRE_CODEGEN_CPU_KERNELS_SIMDAVX512_H

#include <immintrin.h>

namespace QUIRE_KERNEL_NAMESPACE {

/// 32 registers: 4 x 3 sums, as many beside them per group or block.
struct LinearBlocking {
  int tiles;
  int rows;
};
inline constexpr LinearBlocking kBlock32Blocking = {4, 3};
inline constexpr LinearBlocking kBlock256Blocking = {4, 3};
inline constexpr LinearBlocking kFloatBlocking = {4, 3};
/// Below this many rows weights are unpacked in registers, not to scratch, in
/// passes of at most kDirectPass rows.
inline constexpr int kDirectRows = 17;
inline constexpr int kDirectPass = 8;
/// Heads of latent attention whose sums stay in registers; two keys at once.
inline constexpr int kLatentHeadsAtOnce = 8;

QUIRE_INLINE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  return _mm512_fmadd_ps(a, b, c);
}

QUIRE_INLINE I32x16 dotBytes(I32x16 acc, U32x16 w, I32x16 x) {
  return bitCast<I32x16>(_mm512_dpbusd_epi32(
      bitCast<__m512i>(acc), bitCast<__m512i>(w), bitCast<__m512i>(x)));
}
QUIRE_INLINE I32x16 dotBytesWide(I32x16 acc, U32x16 w, I32x16 x) {
  return dotBytes(acc, w, x);
}

QUIRE_INLINE I32x16 dotPairs(I32x16 acc, I32x16 a, I32x16 b) {
  return bitCast<I32x16>(_mm512_dpwssd_epi32(
      bitCast<__m512i>(acc), bitCast<__m512i>(a), bitCast<__m512i>(b)));
}

QUIRE_INLINE I32x16 roundToInt(F32x16 v) {
  return bitCast<I32x16>(_mm512_cvtps_epi32(v));
}

QUIRE_INLINE F32x16 fromHalf(U16x16 v) {
  return _mm512_cvtph_ps(bitCast<__m256i>(v));
}
QUIRE_INLINE U16x16 toHalf(F32x16 v) {
  return bitCast<U16x16>(_mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
