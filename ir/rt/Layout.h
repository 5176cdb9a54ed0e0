// How bytes lie in buffers, packed weights and cache pages: the formulas that
// the memory plan, the weight packer and the kernels share, so that they
// cannot disagree. No MLIR here: kernels include this file when they are
// compiled to bitcode.

#ifndef QUIRE_IR_RT_LAYOUT_H
#define QUIRE_IR_RT_LAYOUT_H

#include "frontends/formats/NumberFormat.h"

#include <cstdint>

namespace quire::layout {

/// Buffers, weights and pages start on cache lines.
inline constexpr int64_t kAlignment = 64;

inline constexpr int64_t alignUp(int64_t value, int64_t to = kAlignment) {
  return (value + to - 1) / to * to;
}

/// How an activation is stored for the products that read it.
enum class ActivationFormat : uint8_t {
  F32,      // [rows, features] f32
  Int8By32, // int8 with an f32 scale per 32 features of a row
  Int8By256 // int8 with an f32 scale per 256 features of a row
};

// ---- Activations -------------------------------------------------------

/// Values that share an integer dot product, and values that share a scale in
/// Int8By256.
inline constexpr int64_t kGroup = 32;
inline constexpr int64_t kBlock = 256;

/// What goes with 32 quantised values of one row in Int8By32. The sum is
/// there twice, in the two forms that products need: scaled, for formats with
/// a minimum, and times -8 (an exact integer), for formats with a zero point.
struct Int8By32Group {
  float scale;
  float scaledSum;
  int32_t minus8Sum;
  int32_t unused;
};

/// What goes with 256 quantised values of one row in Int8By256: the scale and
/// exact sums over every 32 and every 16 values. Those in int16 lie in the
/// order 0 2 1 3, 4 6 5 7, ...: as the pairs in which kernels multiply them.
struct Int8By256Block {
  float scale;
  int32_t unused[3];
  int16_t sum32[8];
  int16_t sum16[16];
  int32_t minus32Sum16[16];
};
static_assert(sizeof(Int8By256Block) == 128);

/// Int8 activations lie as [groups][rows][32] bytes, K padded with zeros to
/// whole groups (whole blocks in Int8By256), then [groups][rows]
/// Int8By32Group or [blocks][rows] Int8By256Block on a cache line. `rows` is
/// the step's own row count, not the most the buffer can hold.
constexpr int64_t activationGroups(ActivationFormat format, int64_t features) {
  return format == ActivationFormat::Int8By256
             ? alignUp(features, kBlock) / kGroup
             : alignUp(features, kGroup) / kGroup;
}

constexpr int64_t activationMetaOffset(ActivationFormat format, int64_t rows,
                                       int64_t features) {
  return alignUp(activationGroups(format, features) * rows * kGroup);
}

constexpr int64_t activationBytes(ActivationFormat format, int64_t rows,
                                  int64_t features) {
  switch (format) {
  case ActivationFormat::F32:
    return rows * features * 4;
  case ActivationFormat::Int8By32:
    return activationMetaOffset(format, rows, features) +
           activationGroups(format, features) * rows *
               static_cast<int64_t>(sizeof(Int8By32Group));
  case ActivationFormat::Int8By256:
    return activationMetaOffset(format, rows, features) +
           activationGroups(format, features) / 8 * rows *
               static_cast<int64_t>(sizeof(Int8By256Block));
  }
  return 0;
}

/// The activation format that a weight format's products read. Formats that
/// files mix within one layer (Q4_K with Q6_K; Q5_0 with Q8_0) agree, so that
/// one quantised activation serves them all.
constexpr ActivationFormat activationFormatFor(NumberFormat weight) {
  switch (weight) {
  case NumberFormat::Q4_0:
  case NumberFormat::Q4_1:
  case NumberFormat::Q5_0:
  case NumberFormat::Q5_1:
  case NumberFormat::Q8_0:
  case NumberFormat::Int8Row:
  case NumberFormat::Int4Sym:
  case NumberFormat::Int4Asym:
    return ActivationFormat::Int8By32;
  case NumberFormat::Q2_K:
  case NumberFormat::Q3_K:
  case NumberFormat::Q4_K:
  case NumberFormat::Q5_K:
  case NumberFormat::Q6_K:
    return ActivationFormat::Int8By256;
  default:
    return ActivationFormat::F32;
  }
}

// ---- Packed weights ----------------------------------------------------

/// Outputs lie across the lanes, 16 to a tile; four tiles side by side are a
/// supertile, the unit of work: all of K for 64 outputs, in one stream.
inline constexpr int64_t kTileOutputs = 16;
inline constexpr int64_t kSupertileOutputs = 64;

/// Bytes of a supertile's pieces. K runs in units of `unitValues`; a unit
/// starts with unitHeaderBytes, and a supertile with supertileHeaderBytes.
struct PackedFormat {
  int64_t unitValues; // 0: not a format that products read
  int64_t unitBytes;  // header included
  int64_t supertileHeaderBytes;
};

constexpr PackedFormat packedFormat(NumberFormat format) {
  // 64 outputs x 32 values: a nibble plane takes 1024 bytes, a two-bit plane
  // 512, a one-bit plane 256; a row of f16 scales or minima takes 128, K-quant
  // sub-scales 1024 (768 where the file packs them in 12 bytes).
  switch (format) {
  case NumberFormat::F32:
    return {2, 512, 0};
  case NumberFormat::F16:
  case NumberFormat::BF16:
    return {2, 256, 0};
  case NumberFormat::Q4_0:
  case NumberFormat::Int4Sym:
    return {32, 1024 + 128, 0};
  case NumberFormat::Q4_1:
  case NumberFormat::Int4Asym:
    return {32, 1024 + 256, 0};
  case NumberFormat::Q5_0:
    return {32, 1024 + 256 + 128, 0};
  case NumberFormat::Q5_1:
    return {32, 1024 + 256 + 256, 0};
  case NumberFormat::Q8_0:
    return {32, 2048 + 128, 0};
  case NumberFormat::Int8Row:
    return {32, 2048, 256};
  case NumberFormat::Q2_K:
    return {256, 256 + 1024 + 8 * 512, 0};
  case NumberFormat::Q3_K:
    return {256, 128 + 1024 + 8 * (512 + 256), 0};
  case NumberFormat::Q4_K:
    return {256, 256 + 768 + 8 * 1024, 0};
  case NumberFormat::Q5_K:
    return {256, 256 + 768 + 8 * (1024 + 256), 0};
  case NumberFormat::Q6_K:
    return {256, 128 + 1024 + 8 * (1024 + 512), 0};
  default:
    return {0, 0, 0};
  }
}

constexpr int64_t supertiles(int64_t outputs) {
  return alignUp(outputs, kSupertileOutputs) / kSupertileOutputs;
}

/// Bytes of one supertile; supertile s starts at s times this.
constexpr int64_t supertileBytes(NumberFormat format, int64_t inputs) {
  const PackedFormat packed = packedFormat(format);
  return packed.supertileHeaderBytes + alignUp(inputs, packed.unitValues) /
                                           packed.unitValues * packed.unitBytes;
}

constexpr int64_t packedWeightBytes(NumberFormat format, int64_t outputs,
                                    int64_t inputs) {
  return supertiles(outputs) * supertileBytes(format, inputs);
}

// ---- Experts -----------------------------------------------------------

/// One expert of a row. Routes lie as [rows][top], ascending in expert.
struct Route {
  int32_t expert;
  float weight;
};

constexpr int64_t routesBytes(int64_t rows, int64_t top) {
  return rows * top * static_cast<int64_t>(sizeof(Route));
}

/// The sorted pairs of a step, as int32: how many experts are touched (and 15
/// unused), the touched experts [experts], where each one's pairs begin
/// [experts + 1], the next free pair of each expert while they are sorted
/// [experts], the row of each pair [rows * top], and the pair of each route
/// [rows * top]. `rows` is the step's own row count.
struct PairTable {
  int64_t experts;
  int64_t rows;
  int64_t top;

  constexpr int64_t pairs() const { return rows * top; }
  constexpr int64_t expertAt() const { return 16; }
  constexpr int64_t beginAt() const { return expertAt() + experts; }
  constexpr int64_t nextAt() const { return beginAt() + experts + 1; }
  constexpr int64_t rowAt() const { return nextAt() + experts; }
  constexpr int64_t pairAt() const { return rowAt() + pairs(); }
  constexpr int64_t bytes() const { return (pairAt() + pairs()) * 4; }
};

// ---- Scratch -----------------------------------------------------------

/// A worker's scratch for route: what each expert weighs, how it ranks, whether
/// it can be chosen, and what each group is worth.
constexpr int64_t routeScratchBytes(int64_t experts) {
  return 4 * alignUp(experts * 4);
}

/// Rows of one linear tile at most: its f32 sums stay in the L2 cache.
inline constexpr int64_t kLinearRows = 256;

/// A worker's scratch for any linear or gated linear kernel: sums of two
/// products over kLinearRows, an unpacked 64 x 256 weight block, its scales
/// and minima.
inline constexpr int64_t kLinearScratchBytes =
    2 * kLinearRows * kSupertileOutputs * 4 + kSupertileOutputs * kBlock +
    2 * 16 * kSupertileOutputs * 4;

/// A worker's scratch for rms_norm: the row that is quantised but not kept.
constexpr int64_t normScratchBytes(int64_t features) {
  return alignUp(features * 4);
}

/// Keys of one attention block, which starts at a multiple of this position.
inline constexpr int64_t kAttentionBlock = 64;
/// Rows of one attention tile at most.
inline constexpr int64_t kAttentionRows = 16;

/// Dimensions of keys or values that are in scratch at a time.
inline constexpr int64_t kAttentionPanel = 64;

/// What attention kernels keep of each query: scores against a block, sums and
/// three statistics.
constexpr int64_t queryStateBytes(int64_t queries, int64_t valueDim) {
  return queries * (kAttentionBlock + alignUp(valueDim, 16)) * 4 +
         alignUp(queries * 3 * 4);
}

/// Where a block's keys and values are.
inline constexpr int64_t kKeyPlacesBytes = kAttentionBlock * 2 * 8;

/// A worker's scratch for an attention kernel: a panel of keys or values,
/// places and queries.
constexpr int64_t attentionScratchBytes(int64_t heads, int64_t kvHeads,
                                        int64_t keyDim, int64_t valueDim) {
  const int64_t queries = kAttentionRows * (heads / kvHeads);
  return kAttentionBlock * kAttentionPanel * 4 + kKeyPlacesBytes +
         queryStateBytes(queries, valueDim);
}

/// Heads of one latent attention tile at most: so many share each latent that
/// is read, and two workers still share a row of 16 heads.
inline constexpr int64_t kLatentHeads = 8;

/// A worker's scratch for latent attention: the heads' queries, the
/// places of a block and the next, what is kept of the heads.
constexpr int64_t latentAttentionScratchBytes(int64_t latentDim,
                                              int64_t rotaryDim) {
  return kLatentHeads * (alignUp(latentDim, 32) + alignUp(rotaryDim, 32)) * 4 +
         2 * kKeyPlacesBytes +
         queryStateBytes(kLatentHeads, alignUp(latentDim, 32));
}

/// Rows of one materialised attention tile at most: they share the keys and
/// values that are raised for them.
inline constexpr int64_t kMaterialisedTileRows = 512;

/// A worker's scratch for materialised attention: one head's two matrices in
/// f32, a block's latents, its keys and values in panels, places, queries.
constexpr int64_t materialisedAttentionScratchBytes(int64_t contentDim,
                                                    int64_t latentDim,
                                                    int64_t rotaryDim,
                                                    int64_t valueDim) {
  const int64_t raised =
      alignUp(contentDim, kAttentionPanel) + alignUp(valueDim, kAttentionPanel);
  const int64_t latents = alignUp(latentDim, kAttentionPanel);
  return (raised + kAttentionBlock) * latents * 4 +
         (raised + alignUp(rotaryDim, kAttentionPanel)) * kAttentionBlock * 4 +
         kKeyPlacesBytes + queryStateBytes(kMaterialisedTileRows, valueDim);
}

// ---- Cache pages -------------------------------------------------------

/// A cache page of one group holds, layer after layer of that group, keys
/// [kvHeads, pageSize, keyDim] and then values [kvHeads, pageSize, valueDim],
/// each element elementBytes wide, each layer's part on a cache line.
struct KvPage {
  int64_t kvHeads;
  int64_t keyDim;
  int64_t valueDim;
  int64_t elementBytes;
  int64_t pageSize; // tokens
  int64_t layers;   // of this group

  constexpr int64_t keyBytes() const {
    return kvHeads * pageSize * keyDim * elementBytes;
  }
  constexpr int64_t valueBytes() const {
    return kvHeads * pageSize * valueDim * elementBytes;
  }
  constexpr int64_t layerBytes() const {
    return alignUp(keyBytes() + valueBytes());
  }
  constexpr int64_t pageBytes() const { return layers * layerBytes(); }
};

} // namespace quire::layout

#endif
