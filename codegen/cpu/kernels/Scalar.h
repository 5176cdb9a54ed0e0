// One lane of Simd.h, bit for bit, in a form that LLVM vectorises again: what
// the functions of Math.h need to be compiled for single values.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_SCALAR_H
#define QUIRE_CODEGEN_CPU_KERNELS_SCALAR_H

#include "codegen/cpu/kernels/Simd.h"

namespace QUIRE_KERNEL_NAMESPACE {

QUIRE_INLINE float fma(float a, float b, float c) {
#ifdef __FMA__
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

/// Nearest even, for |v| < 2^22: the sum's last mantissa bit weighs one. No
/// conversion instruction, so that a NaN gives some integer.
QUIRE_INLINE int32_t roundToInt(float v) {
  return bitCast<int32_t>(v + 0x1.8p23f) - 0x4b400000;
}

QUIRE_INLINE float toFloat(int32_t v) { return static_cast<float>(v); }
QUIRE_INLINE float abs(float v) { return __builtin_fabsf(v); }

/// A constant in every lane.
template <class V> QUIRE_INLINE V all(float x) { return V{} + x; }

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
