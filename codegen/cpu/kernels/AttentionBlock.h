// The arithmetic of one query against one block of 64 keys; the opening
// comment of Attention.cpp has the formulas. Values that live from one panel
// to the next are kept in scratch, so panels do not change any order.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_ATTENTIONBLOCK_H
#define QUIRE_CODEGEN_CPU_KERNELS_ATTENTIONBLOCK_H

#include "codegen/cpu/kernels/AttentionKeys.h"
#include "codegen/cpu/kernels/Math.h"

namespace QUIRE_KERNEL_NAMESPACE {

/// What is kept of each query of a tile from block to block
/// (layout::queryStateBytes).
struct QueryState {
  float *scores;     // [queries][64]: dot products, then weights
  float *sums;       // [queries][wide]
  float *highest;    // [queries]
  float *total;      // [queries]
  float *correction; // [queries]
  int64_t wide;      // dimensions of a value in whole vectors

  QUIRE_INLINE QueryState(int64_t queries, int64_t valueDim, std::byte *at)
      : scores(reinterpret_cast<float *>(at)), sums(scores + kKeys * queries),
        highest(sums + layout::alignUp(valueDim, kLanes) * queries),
        total(highest + queries), correction(total + queries),
        wide(layout::alignUp(valueDim, kLanes)) {}

  /// No key seen yet.
  QUIRE_INLINE void start(int64_t queries) const {
    for (int64_t q = 0; q < queries; ++q) {
      highest[q] = -__builtin_inff();
      total[q] = 0.0f;
      for (int64_t d = 0; d < wide; d += kLanes) {
        storeAligned(sums + q * wide + d, F32x16{});
      }
    }
  }

  QUIRE_INLINE void finish(int64_t q, int64_t valueDim, float *out) const {
    const F32x16 inverse = splat(1.0f / total[q]);
    for (int64_t d = 0; d < valueDim; d += kLanes) {
      storePart(out + d, loadAligned<F32x16>(sums + q * wide + d) * inverse,
                valueDim - d);
    }
  }
};

/// Dead rows get zeros, so that nothing undefined travels on.
QUIRE_INLINE void clearOut(float *out, int64_t count) {
  for (int64_t d = 0; d < count; d += kLanes) {
    storePart(out + d, F32x16{}, count - d);
  }
}

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
struct ScoreRule {
  float scale;
  float softcap; // 0: none

  QUIRE_INLINE F32x16 operator()(F32x16 dot) const {
    const F32x16 score = dot * splat(scale);
    if (softcap > 0.0f) {
      const F32x16 cap = splat(softcap);
      return tanh(score / cap) * cap;
    }
    return score;
  }
};

/// Keys first .. last - 1 of a block join query q's running maximum and total;
/// its dot products become weights.
QUIRE_INLINE void joinSoftmax(const ScoreRule &rule, int64_t q, int64_t first,
                              int64_t last, const QueryState &state) {
  const I32x16 lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const F32x16 nothing = splat(-__builtin_inff());
  float *scores = state.scores + q * kKeys;
  F32x16 s[4];
  F32x16 highest = nothing;
  for (int i = 0; i < 4; ++i) {
    const I32x16 key = lane + 16 * i;
    const I32x16 counts = (key >= static_cast<int32_t>(first)) &
                          (key < static_cast<int32_t>(last));
    const F32x16 score = rule(loadAligned<F32x16>(scores + 16 * i));
    s[i] = counts ? score : nothing;
    highest = max(highest, s[i]);
  }
  const float before = state.highest[q];
  const float blockHighest = maxLanes(highest);
  const float now = before > blockHighest ? before : blockHighest;
  const float correction = exp(splat(before - now))[0];
  for (int i = 0; i < 4; ++i) {
    s[i] = exp(s[i] - splat(now));
    storeAligned(scores + 16 * i, s[i]);
  }
  state.highest[q] = now;
  state.correction[q] = correction;
  state.total[q] =
      state.total[q] * correction + sumLanes((s[0] + s[1]) + (s[2] + s[3]));
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

/// The same for query q and the panel of values that begins with dimension d;
/// nothing where it sees none of the keys.
QUIRE_INLINE void addPanelValues(int64_t q, const KeyRange &seen, int64_t d,
                                 const float *panel, const QueryState &state) {
  if (seen.low >= seen.high) {
    return;
  }
  const float *weights = state.scores + q * kKeys;
  float *sums = state.sums + q * state.wide + d;
  if (d + kPanel <= state.wide) {
    addValues<4>(weights, seen.low, seen.high, state.correction[q], panel,
                 sums);
    return;
  }
  for (int64_t i = 0; d + i < state.wide; i += kLanes) {
    addValues<1>(weights, seen.low, seen.high, state.correction[q], panel + i,
                 sums + i);
  }
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
