// The one entry to a product's sums, by weight format.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_TOTALS_H
#define QUIRE_CODEGEN_CPU_KERNELS_TOTALS_H

#include "codegen/cpu/kernels/LinearBlock256.h"
#include "codegen/cpu/kernels/LinearBlock32.h"
#include "codegen/cpu/kernels/LinearFloat.h"

/// Runs X(name, NumberFormat) for every weight format.
#define QUIRE_WEIGHT_FORMATS(X)                                                \
  X(f32, F32)                                                                  \
  X(f16, F16)                                                                  \
  X(bf16, BF16)                                                                \
  X(q4_0, Q4_0)                                                                \
  X(q4_1, Q4_1)                                                                \
  X(q5_0, Q5_0)                                                                \
  X(q5_1, Q5_1)                                                                \
  X(q8_0, Q8_0)                                                                \
  X(q2_k, Q2_K)                                                                \
  X(q3_k, Q3_K)                                                                \
  X(q4_k, Q4_K)                                                                \
  X(q5_k, Q5_K)                                                                \
  X(q6_k, Q6_K)                                                                \
  X(int8, Int8Row)                                                             \
  X(int4, Int4Sym)                                                             \
  X(int4a, Int4Asym)

namespace QUIRE_KERNEL_NAMESPACE {

template <NumberFormat format>
QUIRE_INLINE void totals(const SupertileJob &job) {
  constexpr ActivationFormat activation = layout::activationFormatFor(format);
  if constexpr (activation == ActivationFormat::F32) {
    totalsFloat<FloatWeights<format>>(job);
  } else if constexpr (activation == ActivationFormat::Int8By256) {
    totalsBlock256<Block256Weights<format>>(job);
  } else if constexpr (format == NumberFormat::Int4Sym) {
    totalsBlock32<Block32Of<NumberFormat::Q4_0>>(job);
  } else if constexpr (format == NumberFormat::Int4Asym) {
    totalsBlock32<Block32Of<NumberFormat::Q4_1>>(job);
  } else {
    totalsBlock32<Block32Of<format>>(job);
  }
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
