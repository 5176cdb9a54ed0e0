// Quantised activations as kernels read and write them: pointers into the
// layout that ir/rt/Layout.h defines, and the one routine that quantises a
// row.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_ACTIVATION_H
#define QUIRE_CODEGEN_CPU_KERNELS_ACTIVATION_H

#include "codegen/cpu/kernels/Simd.h"

namespace QUIRE_KERNEL_NAMESPACE {

using layout::ActivationFormat;
using layout::Int8By256Block;
using layout::Int8By32Group;

template <class Byte> struct Int8View {
  Byte *data; // [groups][rows][32]
  Byte *meta; // [groups][rows] Int8By32Group or [blocks][rows] Int8By256Block
  int64_t rows;

  QUIRE_INLINE Byte *values(int64_t group, int64_t row) const {
    return data + (group * rows + row) * layout::kGroup;
  }
  QUIRE_INLINE Byte *group32(int64_t group, int64_t row) const {
    return meta +
           (group * rows + row) * static_cast<int64_t>(sizeof(Int8By32Group));
  }
  QUIRE_INLINE Byte *block256(int64_t block, int64_t row) const {
    return meta +
           (block * rows + row) * static_cast<int64_t>(sizeof(Int8By256Block));
  }
};

template <class Byte>
QUIRE_INLINE Int8View<Byte> int8View(Byte *base, ActivationFormat format,
                                     int64_t rows, int64_t features) {
  return {base, base + layout::activationMetaOffset(format, rows, features),
          rows};
}

/// Largest magnitude 127. Inputs so small that the inverse would overflow
/// count as zero.
struct QuantScale {
  float scale;
  float inverse;
};
QUIRE_INLINE QuantScale quantScale(float largest) {
  if (!(largest >= 1e-34f)) {
    return {0.0f, 0.0f};
  }
  return {largest / 127.0f, 127.0f / largest};
}

/// 32 values at k; zeros past the row's end.
struct Group32 {
  F32x16 low, high;
};
QUIRE_INLINE Group32 loadGroup(const float *row, int64_t k, int64_t features) {
  const int64_t left = features - k;
  Group32 group = {};
  if (left >= 32) {
    group.low = load<F32x16>(row + k);
    group.high = load<F32x16>(row + k + 16);
  } else if (left > 0) {
    group.low = loadPart(row + k, left);
    if (left > 16) {
      group.high = loadPart(row + k + 16, left - 16);
    }
  }
  return group;
}

QUIRE_INLINE F32x16 largestOf(const Group32 &group) {
  return max(abs(group.low), abs(group.high));
}

/// Rounds 16 values to int8 at `out` and returns their sum.
QUIRE_INLINE int32_t quantize16(F32x16 v, float inverse, std::byte *out) {
  typedef int8_t I8x16 __attribute__((vector_size(16)));
  I32x16 q = roundToInt(v * splat(inverse));
  q = q > 127 ? splat(int32_t(127)) : q;
  q = q < -127 ? splat(int32_t(-127)) : q;
  store(out, __builtin_convertvector(q, I8x16));
  return __builtin_reduce_add(q);
}

/// Quantises one row by 32.
QUIRE_INLINE void quantizeRowBy32(const float *row, int64_t features,
                                  const Int8View<std::byte> &view, int64_t r) {
  const int64_t groups =
      layout::activationGroups(ActivationFormat::Int8By32, features);
  for (int64_t g = 0; g < groups; ++g) {
    const Group32 x = loadGroup(row, g * 32, features);
    const QuantScale scale = quantScale(maxLanes(largestOf(x)));
    std::byte *out = view.values(g, r);
    const int32_t sum = quantize16(x.low, scale.inverse, out) +
                        quantize16(x.high, scale.inverse, out + 16);
    const Int8By32Group meta = {
        scale.scale, scale.scale * static_cast<float>(sum), -8 * sum, 0};
    __builtin_memcpy(view.group32(g, r), &meta, sizeof(meta));
  }
}

/// Quantises one row by 256.
QUIRE_INLINE void quantizeRowBy256(const float *row, int64_t features,
                                   const Int8View<std::byte> &view, int64_t r) {
  const int64_t blocks =
      layout::activationGroups(ActivationFormat::Int8By256, features) / 8;
  for (int64_t b = 0; b < blocks; ++b) {
    F32x16 largest = {};
    for (int64_t g = 0; g < 8; ++g) {
      largest =
          max(largest, largestOf(loadGroup(row, b * 256 + g * 32, features)));
    }
    const QuantScale scale = quantScale(maxLanes(largest));
    Int8By256Block meta = {};
    meta.scale = scale.scale;
    for (int64_t g = 0; g < 8; ++g) {
      const Group32 x = loadGroup(row, b * 256 + g * 32, features);
      std::byte *out = view.values(b * 8 + g, r);
      const int32_t low = quantize16(x.low, scale.inverse, out);
      const int32_t high = quantize16(x.high, scale.inverse, out + 16);
      meta.minus32Sum16[2 * g] = -32 * low;
      meta.minus32Sum16[2 * g + 1] = -32 * high;
      // Order 0 2 1 3 within four: swap the middle two.
      const auto place = [](int64_t i) {
        return (i & ~int64_t(3)) | ((i & 1) << 1) | ((i >> 1) & 1);
      };
      meta.sum16[place(2 * g)] = static_cast<int16_t>(low);
      meta.sum16[place(2 * g + 1)] = static_cast<int16_t>(high);
      meta.sum32[place(g)] = static_cast<int16_t>(low + high);
    }
    __builtin_memcpy(view.block256(b, r), &meta, sizeof(meta));
  }
}

/// Quantises one row in groups of `group` (32 or 256).
QUIRE_INLINE void quantizeRow(const float *row, int64_t features,
                              std::byte *base, int64_t rows, int64_t r,
                              int64_t group) {
  if (group == 32) {
    quantizeRowBy32(row, features,
                    int8View(base, ActivationFormat::Int8By32, rows, features),
                    r);
  } else {
    quantizeRowBy256(
        row, features,
        int8View(base, ActivationFormat::Int8By256, rows, features), r);
  }
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
