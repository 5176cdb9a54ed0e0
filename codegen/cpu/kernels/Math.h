// The few transcendental functions that kernels need, each with one
// implementation for every use so that a value has the same bits wherever it
// is computed: V is F32x16 in kernels and float in the loops that the compiler
// generates (ScalarMath.cpp).

#ifndef QUIRE_CODEGEN_CPU_KERNELS_MATH_H
#define QUIRE_CODEGEN_CPU_KERNELS_MATH_H

#include "codegen/cpu/kernels/Scalar.h"

extern "C" float erff(float);

namespace QUIRE_KERNEL_NAMESPACE {

/// e^x to about one unit in the last place: x = n ln 2 + r with |r| <= ln 2/2,
/// e^r by its Taylor series to r^7 (the next term is below 6e-9), 2^n in two
/// factors because n reaches 128. Below -87.3, where results would be
/// subnormal, the result is 0; above 88.8 it is infinity; NaN stays NaN.
template <class V> QUIRE_INLINE V exp(V x) {
  const auto tiny = x < -87.3f;
  x = tiny ? all<V>(-87.3f) : x;
  x = x > 89.0f ? all<V>(89.0f) : x;
  const auto n = roundToInt(x * 1.44269504f);
  const V nf = toFloat(n);
  // ln 2 in two parts: the first has few enough bits that n times it is exact.
  V r = fma(nf, all<V>(-0x1.62e400p-1f), x);
  r = fma(nf, all<V>(-0x1.7f7d1cp-20f), r);
  V p = all<V>(1.0f / 5040);
  p = fma(p, r, all<V>(1.0f / 720));
  p = fma(p, r, all<V>(1.0f / 120));
  p = fma(p, r, all<V>(1.0f / 24));
  p = fma(p, r, all<V>(1.0f / 6));
  p = fma(p, r, all<V>(0.5f));
  p = fma(p * r, r, r) + 1.0f;
  const auto half = n >> 1;
  p = p * bitCast<V>((half + 127) << 23);
  p = p * bitCast<V>((n - half + 127) << 23);
  return tiny ? V{} : p;
}

template <class V> QUIRE_INLINE V sigmoid(V x) {
  return 1.0f / (exp(-x) + 1.0f);
}

template <class V> QUIRE_INLINE V silu(V x) { return x / (exp(-x) + 1.0f); }

/// tanh(x) = (1 - e) / (1 + e) with e = exp(-2|x|); near 0, where that
/// cancels, the Taylor series to x^9.
template <class V> QUIRE_INLINE V tanh(V x) {
  const V size = abs(x);
  const V e = exp(size * -2.0f);
  const V large = (1.0f - e) / (1.0f + e);
  const V square = x * x;
  V p = all<V>(62.0f / 2835);
  p = fma(p, square, all<V>(-17.0f / 315));
  p = fma(p, square, all<V>(2.0f / 15));
  p = fma(p, square, all<V>(-1.0f / 3));
  const V small = fma(p * square, size, size);
  const V value = size < 0.25f ? small : large;
  return x < 0.0f ? -value : value;
}

/// 0.5 x (1 + tanh(u)) = x / (1 + exp(-2u)), u = sqrt(2/pi)(x + 0.044715 x^3).
template <class V> QUIRE_INLINE V geluTanh(V x) {
  const V inner = fma(x * x * x, all<V>(0.044715f), x);
  return x / (exp(inner * -1.59576912f) + 1.0f);
}

/// 0.5 x (1 + erf(x / sqrt 2)).
QUIRE_INLINE float gelu(float x) {
  return 0.5f * x * (1.0f + ::erff(x * 0.70710678f));
}
QUIRE_INLINE F32x16 gelu(F32x16 x) {
  F32x16 result;
  for (int i = 0; i < 16; ++i) {
    result[i] = gelu(x[i]);
  }
  return result;
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
