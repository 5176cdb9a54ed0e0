// materialised_attention_<format>: attention on keys and values that are
// raised from the cached latents, a block of 64 positions at a time, with one
// head's matrices. A tile is a head by many rows, which share what is raised.
//
// A raised element is a sum over the latent in LinearFloat.h's order, for each
// position alone; from there on the arithmetic is Attention.cpp's, the rotary
// key standing behind the raised one.

#include "codegen/cpu/kernels/AttentionBlock.h"
#include "codegen/cpu/kernels/DecodePanel.h"

namespace QUIRE_KERNEL_NAMESPACE {

/// The parts of materialisedAttentionScratchBytes. Panels of keys are
/// [64 dimensions][64 keys], raised ones first, then the rotary ones; panels
/// of values [64 keys][64 dimensions].
struct MaterialisedScratch {
  int64_t latentWide; // latentDim in whole chains
  int64_t keyPanels;  // raised
  int64_t rotaryPanels;
  int64_t valuePanels;
  float *weightKey;   // [keyPanels][latentWide][64]
  float *weightValue; // [valuePanels][latentWide][64]
  float *latents;     // [64 keys][latentWide]
  float *key;
  float *value;
  KeyPlaces *places;
  QueryState queries;

  QUIRE_INLINE MaterialisedScratch(const MaterialisedAttentionArgs &args,
                                   std::byte *scratch)
      : latentWide(layout::alignUp(args.latentDim, kFloatChain)),
        keyPanels(ceilDivide(args.contentDim, kPanel)),
        rotaryPanels(ceilDivide(args.rotaryDim, kPanel)),
        valuePanels(ceilDivide(args.valueDim, kPanel)),
        weightKey(reinterpret_cast<float *>(scratch)),
        weightValue(weightKey + keyPanels * latentWide * kPanel),
        latents(weightValue + valuePanels * latentWide * kPanel),
        key(latents + kKeys * latentWide),
        value(key + (keyPanels + rotaryPanels) * kPanel * kKeys),
        places(reinterpret_cast<KeyPlaces *>(value +
                                             valuePanels * kPanel * kKeys)),
        queries(layout::kMaterialisedTileRows, args.valueDim,
                reinterpret_cast<std::byte *>(places + 1)) {}
};

/// One matrix of a stack, in panels of 64 outputs.
template <NumberFormat format>
QUIRE_NOINLINE void decodeMatrix(const std::byte *stack, int64_t number,
                                 int64_t outputs, int64_t inputs, float *to) {
  const int64_t bytes = layout::supertileBytes(format, inputs);
  const std::byte *from = stack + number * layout::supertiles(outputs) * bytes;
  for (int64_t s = 0; s < layout::supertiles(outputs); ++s, from += bytes) {
    for (int64_t k = 0; k < inputs; k += kDecodedValues, to += kPanelFloats) {
      decodePanel<format>(from, k, minimum(kDecodedValues, inputs - k), to);
    }
  }
}

QUIRE_INLINE void decodeValueMatrix(const MaterialisedAttentionArgs &args,
                                    int64_t head, float *to) {
  switch (static_cast<NumberFormat>(args.valueFormat)) {
#define QUIRE_DECODE(name, format)                                             \
  case NumberFormat::format:                                                   \
    decodeMatrix<NumberFormat::format>(args.weightValue, head, args.valueDim,  \
                                       args.latentDim, to);                    \
    break;
    QUIRE_WEIGHT_FORMATS(QUIRE_DECODE)
#undef QUIRE_DECODE
  default:
    break;
  }
}

template <class Cache> struct RaisedAttention {
  static QUIRE_NOINLINE void attendRows(const MaterialisedAttentionArgs &args,
                                        int64_t begin, int64_t end,
                                        int64_t head,
                                        const MaterialisedScratch &space) {
    const RowMap rows(*args.step->batch, args.rowSet);
    for (int64_t index = begin; index < end;) {
      const RowRun run = runAt(args, rows, index, end);
      if (isDead(args, run.first)) {
        clearOut(outOf(args, index, head), args.valueDim);
      } else {
        attend(args, run, head, space);
      }
      index += run.count;
    }
  }

  static QUIRE_INLINE float *outOf(const MaterialisedAttentionArgs &args,
                                   int64_t index, int64_t head) {
    return args.out + (index * args.heads + head) * args.valueDim;
  }

  static QUIRE_INLINE void attend(const MaterialisedAttentionArgs &args,
                                  const RowRun &run, int64_t head,
                                  const MaterialisedScratch &space) {
    const int64_t firstPosition = args.step->batch->position[run.first];
    const int64_t keys = firstPosition + run.count;
    space.queries.start(run.count);
    for (int64_t base = 0; base < keys; base += kKeys) {
      const int64_t high = minimum(kKeys, keys - base);
      raise(args, run, {base, 0, high}, space);
      // Rows before this one see none of the block.
      const int64_t from = maximum(0, base - firstPosition);
      const auto seenBy = [&](int64_t q) {
        return KeyRange{base, 0, minimum(high, firstPosition + q + 1 - base)};
      };
      addAllDots(args, run, head, from, space);
      for (int64_t q = from; q < run.count; ++q) {
        joinSoftmax({static_cast<float>(args.scale), 0.0f}, q, 0,
                    seenBy(q).high, space.queries);
      }
      for (int64_t p = 0; p < space.valuePanels; ++p) {
        for (int64_t q = from; q < run.count; ++q) {
          addPanelValues(q, seenBy(q), p * kPanel,
                         space.value + p * kPanel * kKeys, space.queries);
        }
      }
    }
    for (int64_t q = 0; q < run.count; ++q) {
      space.queries.finish(q, args.valueDim, outOf(args, run.index + q, head));
    }
  }

  /// The keys and values of a block, from its latents.
  static QUIRE_INLINE void raise(const MaterialisedAttentionArgs &args,
                                 const RowRun &run, const KeyRange &keys,
                                 const MaterialisedScratch &space) {
    const CacheView cache = cacheView<Cache>(args);
    locateKeys(args, run, cache, 0, keys, *space.places);
    loadValues<Cache>(cache, keys, space.places->key, 0, args.latentDim,
                      space.latentWide, space.latents);
    raiseWith(args, space.weightKey, space.keyPanels, keys.high, space,
              space.key);
    for (int64_t p = 0; p < space.keyPanels; ++p) {
      transposePanel(space.key + p * kPanel * kKeys);
    }
    for (int64_t p = 0; p < space.rotaryPanels; ++p) {
      loadKeyPanel<Cache>(cache, keys, space.places->value, p * kPanel,
                          args.rotaryDim,
                          space.key + (space.keyPanels + p) * kPanel * kKeys);
    }
    raiseWith(args, space.weightValue, space.valuePanels, keys.high, space,
              space.value);
  }

  /// The latents times one matrix, as panels [64 keys][64 outputs].
  static QUIRE_INLINE void raiseWith(const MaterialisedAttentionArgs &args,
                                     const float *weight, int64_t panels,
                                     int64_t keys,
                                     const MaterialisedScratch &space,
                                     float *to) {
    for (int64_t p = 0; p < panels; ++p, to += kPanel * kKeys) {
      clearOut(to, kPanel * kKeys);
      for (int64_t k = 0; k < args.latentDim; k += kFloatChain) {
        walkFloat(weight, minimum(kFloatChain, args.latentDim - k),
                  {space.latents + k, space.latentWide}, keys, to);
        weight += kPanelFloats;
      }
    }
  }

  /// Dot products of queries from .. run.count - 1 with the block's keys.
  static QUIRE_INLINE void addAllDots(const MaterialisedAttentionArgs &args,
                                      const RowRun &run, int64_t head,
                                      int64_t from,
                                      const MaterialisedScratch &space) {
    const int64_t at = run.index * args.heads + head;
    for (int64_t p = 0; p < space.keyPanels + space.rotaryPanels; ++p) {
      const bool raised = p < space.keyPanels;
      const int64_t dims = raised ? args.contentDim : args.rotaryDim;
      const int64_t d = (raised ? p : p - space.keyPanels) * kPanel;
      const float *queries =
          (raised ? args.queryContent : args.queryRotary) + at * dims + d;
      const float *panel = space.key + p * kPanel * kKeys;
      const int64_t stride = args.heads * dims;
      const int64_t count = minimum(kPanel, dims - d);
      float *scores = space.queries.scores;
      int64_t q = from;
      for (; q + 4 <= run.count; q += 4) {
        const float *query[4];
        for (int i = 0; i < 4; ++i) {
          query[i] = queries + (q + i) * stride;
        }
        addDots<4>(query, count, panel, p == 0, scores + q * kKeys);
      }
      for (; q < run.count; ++q) {
        const float *const query[1] = {queries + q * stride};
        addDots<1>(query, count, panel, p == 0, scores + q * kKeys);
      }
    }
  }
};

template <NumberFormat format> struct MaterialisedAttention {
  static QUIRE_INLINE int64_t tiles(const MaterialisedAttentionArgs &args) {
    return ceilDivide(rowCount(args.step, args.rowSet),
                      layout::kMaterialisedTileRows) *
           args.heads;
  }

  static QUIRE_INLINE void tile(const MaterialisedAttentionArgs &args,
                                int64_t tile, std::byte *scratch) {
    const MaterialisedScratch space(args, scratch);
    const int64_t head = tile % args.heads;
    const int64_t begin = tile / args.heads * layout::kMaterialisedTileRows;
    const int64_t end = minimum(rowCount(args.step, args.rowSet),
                                begin + layout::kMaterialisedTileRows);
    decodeMatrix<format>(args.weightKey, head, args.contentDim, args.latentDim,
                         space.weightKey);
    decodeValueMatrix(args, head, space.weightValue);
    switch (args.cacheFormat) {
    case kCacheF32:
      RaisedAttention<CacheF32>::attendRows(args, begin, end, head, space);
      break;
    case kCacheF16:
      RaisedAttention<CacheF16>::attendRows(args, begin, end, head, space);
      break;
    default:
      RaisedAttention<CacheBF16>::attendRows(args, begin, end, head, space);
      break;
    }
  }
};

} // namespace QUIRE_KERNEL_NAMESPACE

namespace quire::cpu {
#define QUIRE_MATERIALISED(name, format)                                       \
  QUIRE_DEFINE_KERNEL(                                                         \
      materialised_attention_##name, MaterialisedAttentionArgs,                \
      QUIRE_KERNEL_LEVEL::MaterialisedAttention<NumberFormat::format>)
QUIRE_WEIGHT_FORMATS(QUIRE_MATERIALISED)
} // namespace quire::cpu
