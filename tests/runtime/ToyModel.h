// A toy model behind the step ABI, for tests of everything around a model. It
// has two layers. Each row writes to its cache slot and reads every slot it
// may see, through the page tables; its logits are a hash of all it read, in
// order: tokens, positions, roles, forms, and the first layer's hashes. A wrong
// page, role or form, a row too many or too few: all change the logits.

#ifndef QUIRE_TESTS_RUNTIME_TOYMODEL_H
#define QUIRE_TESTS_RUNTIME_TOYMODEL_H

#include "ir/rt/Layout.h"
#include "runtime/Engine.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace quire::toy {

inline constexpr int64_t kVocabulary = 64;
/// Reading this token gives non-finite logits; it is never generated.
inline constexpr int32_t kPoison = 63;

/// The "weights": what generated code would know as constants.
struct Constants {
  int64_t groups = 1;
  layout::KvPage page[2];
  int64_t window[2] = {0, 0};
};

inline uint32_t mix(uint32_t hash, uint32_t value) {
  hash ^= value + 0x9E3779B9u + (hash << 6) + (hash >> 2);
  return hash * 0x85EBCA6Bu ^ (hash >> 13);
}

inline const Constants &constantsOf(const QuireStep *step) {
  return *reinterpret_cast<const Constants *>(step->weights);
}

/// Layer l lives in group min(l, groups - 1).
inline int64_t groupOf(const Constants &model, int64_t layer) {
  return std::min(layer, model.groups - 1);
}

/// What a row says of itself beside its token.
inline uint32_t stampOf(int64_t position, bool generated, bool materialised) {
  return static_cast<uint32_t>(position * 2 + generated) + (materialised << 20);
}

/// The two values (token-or-hash, stamp) of a layer at a slot.
inline float *cell(const QuireStep *step, int64_t layer, int32_t slot,
                   bool value) {
  const Constants &model = constantsOf(step);
  int64_t group = groupOf(model, layer);
  const layout::KvPage &page = model.page[group];
  int64_t indexInGroup = model.groups == 1 ? layer : 0;
  std::byte *base =
      step->caches[group] + slot / page.pageSize * page.pageBytes() +
      indexInGroup * page.layerBytes() + (value ? page.keyBytes() : 0);
  return reinterpret_cast<float *>(base) + slot % page.pageSize;
}

inline int64_t countRows(const QuireStep *step, const QuireLayer *) {
  return step->batch->rows;
}
inline int64_t countLogitRows(const QuireStep *step, const QuireLayer *) {
  return step->batch->logitRows;
}

inline void append(const QuireStep *step, const QuireLayer *layer, int64_t row,
                   std::byte *) {
  const QuireBatch &batch = *step->batch;
  int32_t slot = batch.slot[groupOf(constantsOf(step), layer->index)][row];
  if (slot < 0) {
    return;
  }
  const float *hidden = reinterpret_cast<const float *>(step->arena);
  const int32_t *materialised = batch.formRow[kQuireMaterialised];
  *cell(step, layer->index, slot, false) =
      layer->index == 0 ? static_cast<float>(batch.token[row]) : hidden[row];
  *cell(step, layer->index, slot, true) = static_cast<float>(stampOf(
      batch.position[row], batch.role[row],
      std::binary_search(materialised,
                         materialised + batch.formRows[kQuireMaterialised],
                         row)));
}

inline void attend(const QuireStep *step, const QuireLayer *layer, int64_t row,
                   std::byte *) {
  const QuireBatch &batch = *step->batch;
  const Constants &model = constantsOf(step);
  int64_t group = groupOf(model, layer->index);
  int64_t pageSize = model.page[group].pageSize;
  int64_t first =
      model.window[group] == 0
          ? 0
          : std::max<int64_t>(0, batch.position[row] - model.window[group] + 1);
  const int32_t *table =
      batch.pageTable[group] + int64_t{batch.sequence[row]} * batch.maxPages;
  uint32_t hash = 17;
  auto read = [&](int32_t slot) {
    hash = mix(hash,
               static_cast<uint32_t>(*cell(step, layer->index, slot, false)));
    hash =
        mix(hash, static_cast<uint32_t>(*cell(step, layer->index, slot, true)));
  };
  for (int64_t p = first; p < batch.context[row]; ++p) {
    int32_t page = table[p / pageSize];
    if (page >= 0) {
      read(static_cast<int32_t>(page * pageSize + p % pageSize));
    } else {
      hash = mix(hash, 0xDEADu); // a released page must never be read
    }
  }
  for (int32_t i = batch.ancestorBegin[row]; i < batch.ancestorBegin[row + 1];
       ++i) {
    read(batch.ancestor[group][i]);
  }
  if (batch.slot[group][row] >= 0) {
    read(batch.slot[group][row]);
  }
  // 24 bits: exact as a float.
  reinterpret_cast<float *>(step->arena)[row] =
      static_cast<float>(hash & 0xFFFFFF);
}

inline void logitsFromHash(uint32_t hash, bool poisoned, float *out) {
  for (int64_t j = 0; j < kVocabulary; ++j) {
    uint32_t value = mix(mix(hash, static_cast<uint32_t>(j)), 99);
    out[j] = static_cast<float>(value % 4096) / 512 - 4;
  }
  out[kPoison] = poisoned ? std::numeric_limits<float>::quiet_NaN() : -60;
}

inline void head(const QuireStep *step, const QuireLayer *, int64_t i,
                 std::byte *) {
  int32_t row = step->batch->logitRow[i];
  float hash = reinterpret_cast<const float *>(step->arena)[row];
  logitsFromHash(static_cast<uint32_t>(hash),
                 step->batch->token[row] == kPoison,
                 step->logits + i * kVocabulary);
}

inline void step(const QuireStep *step, const QuireWorkerApi *api,
                 QuireWorker *worker) {
  for (int64_t l = 0; l < 2; ++l) {
    QuireLayer layer{nullptr, l, 0};
    api->launch(worker, 0, countRows, append, step, &layer);
    api->barrier(worker);
    api->launch(worker, 1, countRows, attend, step, &layer);
    api->barrier(worker);
  }
  QuireLayer none{};
  api->launch(worker, 2, countLogitRows, head, step, &none);
  api->barrier(worker);
}

struct ToyOptions {
  int64_t pageSize = 4;
  int64_t window = 0; // of a first group; 0: one group for both layers
  int64_t maxRows = 64;
  int64_t maxLogitRows = 32;
  int64_t maxContext = 256;
  int64_t materialisedBlock = 0;
};

/// The model and its constants; keep it as long as the engine.
struct ToyModel {
  explicit ToyModel(const ToyOptions &options = {}) {
    constants.groups = options.window > 0 ? 2 : 1;
    int64_t layers = options.window > 0 ? 1 : 2;
    for (int64_t g = 0; g < constants.groups; ++g) {
      constants.page[g] = {1, 1, 1, 4, options.pageSize, layers};
      constants.window[g] = g == 0 ? options.window : 0;
      model.cacheGroups.push_back(
          {.name = g == 0 && options.window > 0 ? "window" : "global",
           .layers = layers,
           .kvHeads = 1,
           .keyDim = 1,
           .valueDim = 1,
           .format = "f32",
           .pageSize = options.pageSize,
           .window = constants.window[g],
           .pageBytes = constants.page[g].pageBytes()});
    }
    model.executor = {.step = step,
                      .weights =
                          reinterpret_cast<const std::byte *>(&constants),
                      .arenaBytes = options.maxRows * int64_t{sizeof(float)},
                      .scratchBytes = 64,
                      .maxRows = options.maxRows,
                      .maxLogitRows = options.maxLogitRows,
                      .vocabulary = kVocabulary};
    model.maxContext = options.maxContext;
    model.materialisedBlock = options.materialisedBlock;
  }
  ToyModel(const ToyModel &) = delete;

  Constants constants;
  EngineModel model;
};

/// The same function without any cache: logits after `tokens`.
inline std::vector<float> denseLogits(const std::vector<int32_t> &tokens,
                                      int64_t promptLength, int64_t window = 0,
                                      int64_t materialisedBlock = 0) {
  int64_t materialised = materialisedTokens(promptLength, materialisedBlock);
  int64_t count = static_cast<int64_t>(tokens.size());
  std::vector<float> hidden(tokens.begin(), tokens.end());
  for (int layer = 0; layer < 2; ++layer) {
    int64_t span = layer == 0 ? window : 0;
    std::vector<float> next(count);
    for (int64_t row = 0; row < count; ++row) {
      uint32_t hash = 17;
      int64_t first = span == 0 ? 0 : std::max<int64_t>(0, row - span + 1);
      for (int64_t p = first; p <= row; ++p) {
        hash = mix(hash, static_cast<uint32_t>(hidden[p]));
        hash = mix(hash, stampOf(p, p >= promptLength, p < materialised));
      }
      next[row] = static_cast<float>(hash & 0xFFFFFF);
    }
    hidden = next;
  }
  std::vector<float> logits(kVocabulary);
  logitsFromHash(static_cast<uint32_t>(hidden.back()), tokens.back() == kPoison,
                 logits.data());
  return logits;
}

} // namespace quire::toy

#endif
