// latent_attention_<format>: attention in which all heads share one latent and
// one rotary key per position, and the latents are the values, too. A tile is
// a row by a group of heads, which share every load.
//
// Blocks and their order are Attention.cpp's. A dot product adds up sixteen
// lanes over the dimensions of the latent and then of the rotary key, 32 at a
// time, in the order of loadDims, and ends in sumLanes' tree: a key's
// dimensions lie side by side, so nothing is transposed.

#include "codegen/cpu/kernels/AttentionBlock.h"
#include "codegen/cpu/kernels/LatentDims.h"

namespace QUIRE_KERNEL_NAMESPACE {

inline constexpr int64_t kHeads = layout::kLatentHeads;

/// The parts of latentAttentionScratchBytes.
struct LatentScratch {
  int64_t latentWide; // floats of a query's latent part
  int64_t queryWide;
  float *query;      // [8 heads][queryWide]: latent, then rotary, zeros behind
  KeyPlaces *places; // of a block and the next
  QueryState heads;

  QUIRE_INLINE LatentScratch(const LatentAttentionArgs &args,
                             std::byte *scratch)
      : latentWide(layout::alignUp(args.latentDim, kDims)),
        queryWide(latentWide + layout::alignUp(args.rotaryDim, kDims)),
        query(reinterpret_cast<float *>(scratch)),
        places(reinterpret_cast<KeyPlaces *>(query + kHeads * queryWide)),
        heads(kHeads, latentWide, reinterpret_cast<std::byte *>(places + 2)) {}
};

/// Adds the products of `dims` dimensions of some keys with some queries.
template <class Cache, int keys, int heads>
QUIRE_INLINE void multiplyDims(const std::byte *const (&key)[keys],
                               const float *query, int64_t queryWide,
                               int64_t dims, F32x16 (&sum)[keys * heads]) {
  constexpr int64_t bytes = sizeof(typename Cache::Element);
  const auto step = [&](int64_t d, auto loadKey) {
    DimPair k[keys];
    for (int i = 0; i < keys; ++i) {
      k[i] = loadKey(key[i] + d * bytes);
    }
    for (int h = 0; h < heads; ++h) {
      const float *q = query + h * queryWide + d;
      const F32x16 first = loadAligned<F32x16>(q);
      const F32x16 second = loadAligned<F32x16>(q + kLanes);
      for (int i = 0; i < keys; ++i) {
        F32x16 &s = sum[i * heads + h];
        s = fma(first, k[i].first, s);
        s = fma(second, k[i].second, s);
      }
    }
  };
  int64_t d = 0;
  for (; d + kDims <= dims; d += kDims) {
    step(d, [](const std::byte *p) { return loadDims<Cache>(p); });
  }
  if (d < dims) {
    step(d,
         [&](const std::byte *p) { return loadDimsPart<Cache>(p, dims - d); });
  }
}

template <class Cache> struct LatentAttention {
  static constexpr int64_t kElement = sizeof(typename Cache::Element);

  static QUIRE_INLINE int64_t groups(const LatentAttentionArgs &args) {
    return ceilDivide(args.heads, kHeads);
  }

  static QUIRE_INLINE int64_t tiles(const LatentAttentionArgs &args) {
    return rowCount(args.step, args.rowSet) * groups(args);
  }

  static QUIRE_INLINE void tile(const LatentAttentionArgs &args, int64_t tile,
                                std::byte *scratch) {
    attendRow(args, tile / groups(args), tile % groups(args) * kHeads, scratch);
  }

  static QUIRE_NOINLINE void attendRow(const LatentAttentionArgs &args,
                                       int64_t index, int64_t head,
                                       std::byte *scratch) {
    const QuireBatch &batch = *args.step->batch;
    const int64_t row = RowMap(batch, args.rowSet).batchRow(index);
    const int64_t first = index * args.heads + head;
    const int64_t heads = minimum(kHeads, args.heads - head);
    if (isDead(args, row)) {
      clearOut(args.out + first * args.latentDim, heads * args.latentDim);
      return;
    }
    const LatentScratch space(args, scratch);
    for (int64_t h = 0; h < kHeads; ++h) {
      float *to = space.query + h * space.queryWide;
      const bool real = h < heads;
      arrange(args.queryLatent + (first + h) * args.latentDim,
              real ? args.latentDim : 0, space.latentWide, to);
      arrange(args.queryRotary + (first + h) * args.rotaryDim,
              real ? args.rotaryDim : 0, space.queryWide - space.latentWide,
              to + space.latentWide);
    }
    space.heads.start(kHeads);
    attend(args, {index, row, 1}, space);
    for (int64_t h = 0; h < heads; ++h) {
      finish(h, args.latentDim, args.out + (first + h) * args.latentDim,
             space.heads);
    }
  }

  /// `count` floats and zeros up to `wide`, in the order of loadDims.
  static QUIRE_INLINE void arrange(const float *from, int64_t count,
                                   int64_t wide, float *to) {
    for (int64_t d = 0; d < wide; d += kDims) {
      const DimPair v = arrangeDims<Cache>(
          {loadPart(from + d, maximum(0, count - d)),
           loadPart(from + d + kLanes, maximum(0, count - d - kLanes))});
      storeAligned(to + d, v.first);
      storeAligned(to + d + kLanes, v.second);
    }
  }

  static QUIRE_INLINE void finish(int64_t h, int64_t latentDim, float *out,
                                  const QueryState &state) {
    const F32x16 inverse = splat(1.0f / state.total[h]);
    for (int64_t d = 0; d < latentDim; d += kDims) {
      const float *sums = state.sums + h * state.wide + d;
      const DimPair v = restoreDims<Cache>(
          {loadAligned<F32x16>(sums), loadAligned<F32x16>(sums + kLanes)});
      storePart(out + d, v.first * inverse, latentDim - d);
      storePart(out + d + kLanes, v.second * inverse,
                maximum(0, latentDim - d - kLanes));
    }
  }

  static QUIRE_INLINE void attend(const LatentAttentionArgs &args,
                                  const RowRun &run,
                                  const LatentScratch &space) {
    const int64_t keys = args.step->batch->position[run.first] + 1;
    const CacheView cache = cacheView<Cache>(args);
    const auto locate = [&](int64_t base, KeyPlaces &places) {
      const KeyRange range = {base, 0, minimum(kKeys, keys - base)};
      locateKeys(args, run, cache, 0, range, places);
    };
    locate(0, space.places[0]);
    for (int64_t base = 0; base < keys; base += kKeys) {
      const int64_t at = base / kKeys % 2;
      const int64_t next = base + kKeys < keys ? 1 - at : at;
      if (next != at) {
        locate(base + kKeys, space.places[next]);
      }
      const int64_t high = minimum(kKeys, keys - base);
      scoreKeys(args, cache, high, space.places[at], space);
      for (int64_t h = 0; h < kHeads; ++h) {
        joinSoftmax({static_cast<float>(args.scale), 0.0f}, h, 0, high,
                    space.heads);
      }
      addLatents(args, cache, high, space.places[at], space.heads);
    }
  }

  /// Dot products of all heads with keys 0 .. high - 1 of a block.
  static QUIRE_INLINE void scoreKeys(const LatentAttentionArgs &args,
                                     const CacheView &cache, int64_t high,
                                     const KeyPlaces &places,
                                     const LatentScratch &space) {
    if constexpr (kLatentHeadsAtOnce == 8) {
      for (int64_t group = 0; group < high; group += 2 * kLanes) {
        // Keys i and i + 16, so that a transpose puts keys across the lanes.
        F32x16 dots[kLanes];
        for (int64_t i = 0; i < kLanes; ++i) {
          F32x16 sum[16] = {};
          dotsOf<2, 8>(args, cache, places, {group + i, group + i + kLanes},
                       space, 0, sum);
          dots[i] = sumEach(sum);
        }
        transpose(dots);
        for (int64_t h = 0; h < kHeads; ++h) {
          float *scores = space.heads.scores + h * kKeys + group;
          storeAligned(scores, dots[h]);
          storeAligned(scores + kLanes, dots[kHeads + h]);
        }
      }
    } else {
      constexpr int heads = kLatentHeadsAtOnce;
      for (int64_t h = 0; h < kHeads; h += heads) {
        for (int64_t k = 0; k < high; ++k) {
          F32x16 sum[heads] = {};
          dotsOf<1, heads>(args, cache, places, {k}, space, h, sum);
          for (int i = 0; i < heads; ++i) {
            space.heads.scores[(h + i) * kKeys + k] = sumLanes(sum[i]);
          }
        }
      }
    }
  }

  template <int keys, int heads>
  static QUIRE_INLINE void
  dotsOf(const LatentAttentionArgs &args, const CacheView &cache,
         const KeyPlaces &places, const int64_t (&key)[keys],
         const LatentScratch &space, int64_t head,
         F32x16 (&sum)[keys * heads]) {
    const std::byte *latent[keys], *rotary[keys];
    for (int i = 0; i < keys; ++i) {
      latent[i] = cache.base + places.key[key[i]];
      rotary[i] = cache.base + places.value[key[i]];
    }
    const float *query = space.query + head * space.queryWide;
    multiplyDims<Cache, keys, heads>(latent, query, space.queryWide,
                                     args.latentDim, sum);
    multiplyDims<Cache, keys, heads>(rotary, query + space.latentWide,
                                     space.queryWide, args.rotaryDim, sum);
  }

  /// Adds the weighted latents of keys 0 .. high - 1 to all heads' sums.
  static QUIRE_INLINE void addLatents(const LatentAttentionArgs &args,
                                      const CacheView &cache, int64_t high,
                                      const KeyPlaces &places,
                                      const QueryState &state) {
    for (int64_t h = 0; h < kHeads; h += kLatentHeadsAtOnce) {
      int64_t d = 0;
      for (; d + kDims <= args.latentDim; d += kDims) {
        addDims(cache, high, places, h, d, state,
                [](const std::byte *p) { return loadDims<Cache>(p); });
      }
      if (d < args.latentDim) {
        addDims(cache, high, places, h, d, state, [&](const std::byte *p) {
          return loadDimsPart<Cache>(p, args.latentDim - d);
        });
      }
    }
  }

  /// 32 dimensions of some heads' sums.
  template <class Load>
  static QUIRE_INLINE void
  addDims(const CacheView &cache, int64_t high, const KeyPlaces &places,
          int64_t head, int64_t d, const QueryState &state, Load loadLatent) {
    constexpr int heads = kLatentHeadsAtOnce;
    float *sums = state.sums + head * state.wide + d;
    const float *weights = state.scores + head * kKeys;
    F32x16 first[heads], second[heads];
    for (int h = 0; h < heads; ++h) {
      const F32x16 correction = splat(state.correction[head + h]);
      first[h] = loadAligned<F32x16>(sums + h * state.wide) * correction;
      second[h] =
          loadAligned<F32x16>(sums + h * state.wide + kLanes) * correction;
    }
    for (int64_t k = 0; k < high; ++k) {
      const DimPair v = loadLatent(cache.base + places.key[k] + d * kElement);
      for (int h = 0; h < heads; ++h) {
        const F32x16 weight = splat(weights[h * kKeys + k]);
        first[h] = fma(weight, v.first, first[h]);
        second[h] = fma(weight, v.second, second[h]);
      }
    }
    for (int h = 0; h < heads; ++h) {
      storeAligned(sums + h * state.wide, first[h]);
      storeAligned(sums + h * state.wide + kLanes, second[h]);
    }
  }
};

} // namespace QUIRE_KERNEL_NAMESPACE

namespace quire::cpu {
QUIRE_DEFINE_KERNEL(
    latent_attention_f32, LatentAttentionArgs,
    QUIRE_KERNEL_LEVEL::LatentAttention<QUIRE_KERNEL_LEVEL::CacheF32>)
QUIRE_DEFINE_KERNEL(
    latent_attention_f16, LatentAttentionArgs,
    QUIRE_KERNEL_LEVEL::LatentAttention<QUIRE_KERNEL_LEVEL::CacheF16>)
QUIRE_DEFINE_KERNEL(
    latent_attention_bf16, LatentAttentionArgs,
    QUIRE_KERNEL_LEVEL::LatentAttention<QUIRE_KERNEL_LEVEL::CacheBF16>)
} // namespace quire::cpu
