// The arithmetic of one query against one block of 64 keys; the opening
// comment of Attention.cpp has the formulas. Values that live from one panel
// to the next are kept in scratch, so panels do not change any order.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_ATTENTIONBLOCK_H
#define QUIRE_CODEGEN_CPU_KERNELS_ATTENTIONBLOCK_H

#include "codegen/cpu/kernels/AttentionKeys.h"
#include "codegen/cpu/kernels/Math.h"

namespace QUIRE_KERNEL_NAMESPACE {

/// The parts of attentionScratchBytes.
struct AttentionScratch {
  float *panel;      // [64][64]: keys, then values
  float *scores;     // [queries][64]
  float *sums;       // [queries][wide]
  float *highest;    // [queries]
  float *total;      // [queries]
  float *correction; // [queries]
  KeyPlaces *places;
  int64_t wide; // valueDim in whole vectors

  QUIRE_INLINE AttentionScratch(const AttentionArgs &args, std::byte *scratch) {
    const int64_t queries =
        layout::kAttentionRows * (args.heads / args.kvHeads);
    wide = layout::alignUp(args.valueDim, kLanes);
    panel = reinterpret_cast<float *>(scratch);
    scores = panel + kPanel * kKeys;
    sums = scores + kKeys * queries;
    highest = sums + wide * queries;
    total = highest + queries;
    correction = total + queries;
    places = reinterpret_cast<KeyPlaces *>(
        highest + layout::alignUp(3 * queries, kLanes));
  }
};

/// Adds `dims` dimensions of a panel to the dot products of `count` queries
/// with all 64 lanes.
template <int count>
QUIRE_INLINE void addDots(const float *const (&query)[count], int64_t dims,
                          const float *panel, bool first, float *scores) {
  F32x16 s[count][4];
  for (int q = 0; q < count; ++q) {
    for (int i = 0; i < 4; ++i) {
      s[q][i] =
          first ? F32x16{} : loadAligned<F32x16>(scores + q * kKeys + 16 * i);
    }
  }
  for (int64_t d = 0; d < dims; ++d) {
    for (int i = 0; i < 4; ++i) {
      const F32x16 k = loadAligned<F32x16>(panel + d * kKeys + 16 * i);
      for (int q = 0; q < count; ++q) {
        s[q][i] = fma(splat(query[q][d]), k, s[q][i]);
      }
    }
  }
  for (int q = 0; q < count; ++q) {
    for (int i = 0; i < 4; ++i) {
      storeAligned(scores + q * kKeys + 16 * i, s[q][i]);
    }
  }
}

/// Dot products to scores: scaled and, if asked for, soft-capped.
QUIRE_INLINE F32x16 scoreOf(const AttentionArgs &args, F32x16 dot) {
  const F32x16 score = dot * splat(static_cast<float>(args.scale));
  if (args.softcap > 0.0) {
    const F32x16 cap = splat(static_cast<float>(args.softcap));
    return tanh(score / cap) * cap;
  }
  return score;
}

/// Keys first .. last - 1 of a block join query q's running maximum and total;
/// its dot products become weights.
QUIRE_INLINE void joinSoftmax(const AttentionArgs &args, int64_t q,
                              int64_t first, int64_t last,
                              const AttentionScratch &space) {
  const I32x16 lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const F32x16 nothing = splat(-__builtin_inff());
  float *scores = space.scores + q * kKeys;
  F32x16 s[4];
  F32x16 highest = nothing;
  for (int i = 0; i < 4; ++i) {
    const I32x16 key = lane + 16 * i;
    const I32x16 counts = (key >= static_cast<int32_t>(first)) &
                          (key < static_cast<int32_t>(last));
    const F32x16 score = scoreOf(args, loadAligned<F32x16>(scores + 16 * i));
    s[i] = counts ? score : nothing;
    highest = max(highest, s[i]);
  }
  const float before = space.highest[q];
  const float blockHighest = maxLanes(highest);
  const float now = before > blockHighest ? before : blockHighest;
  const float correction = exp(splat(before - now))[0];
  for (int i = 0; i < 4; ++i) {
    s[i] = exp(s[i] - splat(now));
    storeAligned(scores + 16 * i, s[i]);
  }
  space.highest[q] = now;
  space.correction[q] = correction;
  space.total[q] =
      space.total[q] * correction + sumLanes((s[0] + s[1]) + (s[2] + s[3]));
}

/// Adds the weighted values of keys first .. last - 1, `vectors` vectors of a
/// panel, to a query's corrected sums.
template <int vectors>
QUIRE_INLINE void addValues(const float *weights, int64_t first, int64_t last,
                            float correction, const float *panel, float *sums) {
  F32x16 acc[vectors];
  for (int i = 0; i < vectors; ++i) {
    acc[i] = loadAligned<F32x16>(sums + 16 * i) * splat(correction);
  }
  for (int64_t k = first; k < last; ++k) {
    const F32x16 weight = splat(weights[k]);
    for (int i = 0; i < vectors; ++i) {
      acc[i] =
          fma(weight, loadAligned<F32x16>(panel + k * kPanel + 16 * i), acc[i]);
    }
  }
  for (int i = 0; i < vectors; ++i) {
    storeAligned(sums + 16 * i, acc[i]);
  }
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
