// embed_<format>: rows of the embedding table, decoded from the layout that
// products read. Each value is computed with the very f32 operations of the
// format's definition, so that decoding every row of a packed tensor gives
// back the file's values bit for bit.

#include "codegen/cpu/kernels/Rows.h"
#include "codegen/cpu/kernels/Totals.h"

namespace QUIRE_KERNEL_NAMESPACE {

/// Where one output's values are in a packed weight.
struct PackedRow {
  const std::byte *supertile;
  int tile;
  int lane;
};

/// The 32 codes of one lane.
struct Codes {
  uint8_t code[32];
};
QUIRE_INLINE Codes codesOf(const Lines &lines, int lane) {
  Codes codes;
  for (int j = 0; j < 8; ++j) {
    const uint32_t four = lines.line[j][lane];
    for (int b = 0; b < 4; ++b) {
      codes.code[4 * j + b] = static_cast<uint8_t>(four >> (8 * b));
    }
  }
  return codes;
}

template <class W>
QUIRE_INLINE void decodeFloat(const PackedRow &row, int64_t features,
                              float scale, float *out) {
  const std::byte *unit = row.supertile;
  for (int64_t k = 0; k < features; k += 2, unit += W::kUnitBytes) {
    const WeightPair pair = W::pair(unit, row.tile);
    out[k] = pair.even[row.lane] * scale;
    if (k + 1 < features) {
      out[k + 1] = pair.odd[row.lane] * scale;
    }
  }
}

template <class W>
QUIRE_INLINE void decodeBlock32(const PackedRow &row, int64_t features,
                                float scale, float *out) {
  const std::byte *group =
      row.supertile + layout::packedFormat(W::kFormat).supertileHeaderBytes;
  for (int64_t k = 0; k < features; k += 32, group += W::kUnitBytes) {
    const Codes codes = codesOf(W::lines(group, row.tile), row.lane);
    float d, m = 0.0f;
    if constexpr (W::kRowScale) {
      d = loadScalar<float>(row.supertile + 4 * (16 * row.tile + row.lane));
    } else {
      d = W::scale(group, row.tile)[row.lane];
    }
    if constexpr (W::kHasMinimum) {
      m = W::minimumOf(group, row.tile)[row.lane];
    }
    const int64_t count = minimum(features - k, 32);
    for (int64_t i = 0; i < count; ++i) {
      const float q = static_cast<float>(codes.code[i] - W::kZero);
      out[k + i] = (W::kHasMinimum ? q * d + m : q * d) * scale;
    }
  }
}

template <class W>
QUIRE_INLINE void decodeBlock256(const PackedRow &row, int64_t features,
                                 float scale, float *out) {
  const std::byte *block = row.supertile;
  for (int64_t k = 0; k < features; k += 256, block += W::kUnitBytes) {
    const auto scales = W::subScales(block, row.tile);
    const float d = W::superScale(block, row.tile)[row.lane];
    float dmin = 0.0f;
    if constexpr (W::kHasMinimum) {
      dmin = W::superMinimum(block, row.tile)[row.lane];
    }
    for (int g = 0; g < 8; ++g) {
      const Codes codes = codesOf(
          W::lines(block + W::kHeaderBytes + g * W::kGroupBytes, row.tile),
          row.lane);
      for (int i = 0; i < 32; ++i) {
        const int s = (32 * g + i) / W::kSubGroup;
        const float sub = d * W::subScale(scales, s / 4, s % 4)[row.lane];
        float value = sub * static_cast<float>(codes.code[i] - W::kZero);
        if constexpr (W::kHasMinimum) {
          const uint32_t minima = scales.minimum[s / 4][row.lane];
          value -= dmin * static_cast<float>((minima >> (8 * (s % 4))) & 255u);
        }
        out[k + 32 * g + i] = value * scale;
      }
    }
  }
}

template <NumberFormat format> struct Embed {
  static QUIRE_INLINE int64_t tiles(const EmbedArgs &args) {
    return rowTiles(args.step->batch->rows);
  }

  static QUIRE_INLINE void tile(const EmbedArgs &args, int64_t tile,
                                std::byte *) {
    const QuireBatch &batch = *args.step->batch;
    const int64_t stride = layout::supertileBytes(format, args.features);
    const float scale = static_cast<float>(args.scale);
    forRows(batch.rows, tile, [&](int64_t row) {
      const int64_t token = batch.token[row];
      const PackedRow packed = {
          args.weight + token / layout::kSupertileOutputs * stride,
          static_cast<int>(token % 64 / 16), static_cast<int>(token % 16)};
      decode(packed, args.features, scale, args.out + row * args.features);
    });
  }

  static QUIRE_NOINLINE void decode(const PackedRow &row, int64_t features,
                                    float scale, float *out) {
    constexpr ActivationFormat activation = layout::activationFormatFor(format);
    if constexpr (activation == ActivationFormat::F32) {
      decodeFloat<FloatWeights<format>>(row, features, scale, out);
    } else if constexpr (activation == ActivationFormat::Int8By256) {
      decodeBlock256<Block256Weights<format>>(row, features, scale, out);
    } else {
      decodeBlock32<Block32Of<format>>(row, features, scale, out);
    }
  }
};

} // namespace QUIRE_KERNEL_NAMESPACE

namespace quire::cpu {
#define QUIRE_EMBED(name, format)                                              \
  QUIRE_DEFINE_KERNEL(embed_##name, EmbedArgs,                                 \
                      QUIRE_KERNEL_LEVEL::Embed<NumberFormat::format>)
QUIRE_WEIGHT_FORMATS(QUIRE_EMBED)
} // namespace quire::cpu
