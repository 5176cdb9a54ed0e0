// Plain float weights: f32, f16 and bf16. A unit holds two values of K for 64
// outputs: f32 and f16 one value after the other, [2][64]; bf16 with the two
// values of an output side by side, [64][2], so that a shift and a mask turn
// a register into two of f32. Odd K ends with a zero.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_FLOATWEIGHTS_H
#define QUIRE_CODEGEN_CPU_KERNELS_FLOATWEIGHTS_H

#include "codegen/cpu/kernels/WeightPlanes.h"

namespace QUIRE_KERNEL_NAMESPACE {

struct WeightPair {
  F32x16 even, odd;
};

template <NumberFormat format> struct FloatWeights {
  static constexpr NumberFormat kFormat = format;
  static constexpr int64_t kUnitBytes = layout::packedFormat(format).unitBytes;

  static QUIRE_INLINE WeightPair pair(const std::byte *unit, int tile) {
    if constexpr (format == NumberFormat::F32) {
      return {loadAligned<F32x16>(unit + 64 * tile),
              loadAligned<F32x16>(unit + 256 + 64 * tile)};
    } else if constexpr (format == NumberFormat::F16) {
      return {loadHalves(unit + 32 * tile), loadHalves(unit + 128 + 32 * tile)};
    } else {
      const U32x16 both = loadAligned<U32x16>(unit + 64 * tile);
      return {bitCast<F32x16>(both << 16), bitCast<F32x16>(both & 0xffff0000u)};
    }
  }
};

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
