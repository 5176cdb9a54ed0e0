// The few transcendental functions that kernels need, on 16 lanes, each with
// one implementation for every use so that a value has the same bits wherever
// it is computed.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_MATH_H
#define QUIRE_CODEGEN_CPU_KERNELS_MATH_H

#include "codegen/cpu/kernels/Simd.h"

extern "C" float erff(float);

namespace QUIRE_KERNEL_NAMESPACE {

/// e^x to about one unit in the last place: x = n ln 2 + r with |r| <= ln 2/2,
/// e^r by its Taylor series to r^7 (the next term is below 6e-9), 2^n in two
/// factors because n reaches 128. Below -87.3, where results would be
/// subnormal, the result is 0; above 88.8 it is infinity; NaN stays NaN.
QUIRE_INLINE F32x16 exp(F32x16 x) {
  const I32x16 tiny = x < -87.3f;
  x = tiny ? splat(-87.3f) : x;
  x = x > 89.0f ? splat(89.0f) : x;
  const I32x16 n = roundToInt(x * splat(1.44269504f));
  const F32x16 nf = toFloat(n);
  // ln 2 in two parts: the first has few enough bits that n times it is exact.
  F32x16 r = fma(nf, splat(-0x1.62e400p-1f), x);
  r = fma(nf, splat(-0x1.7f7d1cp-20f), r);
  F32x16 p = splat(1.0f / 5040);
  p = fma(p, r, splat(1.0f / 720));
  p = fma(p, r, splat(1.0f / 120));
  p = fma(p, r, splat(1.0f / 24));
  p = fma(p, r, splat(1.0f / 6));
  p = fma(p, r, splat(0.5f));
  p = fma(p * r, r, r) + splat(1.0f);
  const I32x16 half = n >> 1;
  p = p * bitCast<F32x16>((half + 127) << 23);
  p = p * bitCast<F32x16>((n - half + 127) << 23);
  return tiny ? F32x16{} : p;
}

QUIRE_INLINE F32x16 silu(F32x16 x) { return x / (splat(1.0f) + exp(-x)); }

/// tanh(x) = (1 - e) / (1 + e) with e = exp(-2|x|); near 0, where that
/// cancels, the Taylor series to x^9.
QUIRE_INLINE F32x16 tanh(F32x16 x) {
  const F32x16 size = abs(x);
  const F32x16 e = exp(size * splat(-2.0f));
  const F32x16 large = (splat(1.0f) - e) / (splat(1.0f) + e);
  const F32x16 square = x * x;
  F32x16 p = splat(62.0f / 2835);
  p = fma(p, square, splat(-17.0f / 315));
  p = fma(p, square, splat(2.0f / 15));
  p = fma(p, square, splat(-1.0f / 3));
  const F32x16 small = fma(p * square, size, size);
  const F32x16 value = size < 0.25f ? small : large;
  return x < 0.0f ? -value : value;
}

/// 0.5 x (1 + tanh(u)) = x / (1 + exp(-2u)), u = sqrt(2/pi)(x + 0.044715 x^3).
QUIRE_INLINE F32x16 geluTanh(F32x16 x) {
  const F32x16 inner = fma(x * x * x, splat(0.044715f), x);
  return x / (splat(1.0f) + exp(inner * splat(-1.59576912f)));
}

/// 0.5 x (1 + erf(x / sqrt 2)).
QUIRE_INLINE F32x16 gelu(F32x16 x) {
  F32x16 result;
  for (int i = 0; i < 16; ++i) {
    result[i] = 0.5f * x[i] * (1.0f + ::erff(x[i] * 0.70710678f));
  }
  return result;
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
