// What kind of decoder a checkpoint holds: one plain struct for every family.
// A model is such a config, a table of weight names and the one shared
// builder; there is no class per model. Immutable once a frontend filled it.

#ifndef QUIRE_MODELS_MODELCONFIG_H
#define QUIRE_MODELS_MODELCONFIG_H

#include "models/Rope.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace quire {

/// Where the norms of a layer stand.
enum class NormPlacement {
  Pre,      // before attention and MLP (Llama)
  Sandwich, // before and after each (Gemma 2 and 3)
  Post      // after each, none before (OLMo 2)
};

/// What is normalised in queries and keys.
enum class QueryKeyNorm {
  None,
  PerHead, // each head by a vector of head size (Qwen3, Gemma 3)
  Full     // the whole row (OLMo 2)
};

enum class MlpNonlinearity { Silu, GeluTanh, Gelu };

/// How a router turns scores into weights.
enum class RouterGate { Softmax, Sigmoid };

/// How experts are ranked by group where only some groups may be chosen.
enum class GroupScore {
  Max,    // the best of the group (DeepSeek-V2)
  TopTwo, // the sum of the two best (DeepSeek-V3)
};

/// The experts of a layer that has them; the meaning of each field is that of
/// lm.route and lm.experts.
struct ExpertsConfig {
  int64_t count = 0;
  int64_t top = 0; // experts of one token
  int64_t intermediate = 0;
  RouterGate gate = RouterGate::Softmax;
  bool correctionBias = false; // added to gated scores to choose, not to weigh
  int64_t groups = 1;
  int64_t topGroups = 1;
  GroupScore groupScore = GroupScore::Max;
  bool normalise = false;
  double scale = 1;
  /// A gated MLP that every token goes through; 0: none.
  int64_t sharedIntermediate = 0;
  bool sharedGate = false; // its result times sigmoid of a product
};

/// Multi-head latent attention: keys and values of all heads are products of
/// one latent row, and a rotary key that all heads share stands beside them.
struct LatentConfig {
  int64_t rank = 0;       // of the latent; 0: the model has none
  int64_t queryRank = 0;  // 0: queries are one product
  int64_t contentDim = 0; // channels of a query or key that do not rotate
  int64_t rotaryDim = 0;  // channels that do, behind the others
  int64_t valueDim = 0;
  /// Of the norms of both latents; implementations do not agree that it is the
  /// other norms'.
  double normEpsilon = 1e-6;
  bool interleaved = false; // rotary pairs are neighbours
};

struct LayerConfig {
  int64_t window = 0;   // sliding window in tokens, 0: all
  int64_t rope = 0;     // index into ModelConfig::ropes
  bool experts = false; // ModelConfig::experts instead of one MLP
};

struct ModelConfig {
  std::string architecture; // "llama", "qwen2", ...
  std::string name;         // for people
  int64_t vocabulary = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t kvHeads = 0;
  int64_t headDim = 0; // of queries and keys
  int64_t intermediate = 0;
  int64_t maxContext = 0;
  std::vector<LayerConfig> layers;
  std::vector<RopeConfig> ropes;
  ExpertsConfig experts; // where some layer has them
  LatentConfig latent;   // every layer has it, or none
  /// Layers behind the others that only predict further tokens; checkpoints
  /// carry them, and no decoder reads them.
  int64_t draftLayers = 0;

  double normEpsilon = 1e-5;
  NormPlacement norms = NormPlacement::Pre;
  QueryKeyNorm queryKeyNorm = QueryKeyNorm::None;
  /// The stored norm weights lack the 1 that is added to them.
  bool normWeightsMinusOne = false;
  MlpNonlinearity nonlinearity = MlpNonlinearity::Silu;

  bool tiedHead = false;
  bool queryKeyValueBias = false;
  bool attentionOutputBias = false;
  bool mlpBias = false;
  bool headBias = false;
  /// Query and key rows are stored for interleaved rotation (GGUF's llama).
  bool permutedRotary = false;

  /// Products are stored as e4m3 with a scale for each block of 128 x 128.
  bool blockFp8 = false;

  double attentionScale = 0; // factor on q.k; set by the frontend
  double attentionSoftcap = 0;
  double logitSoftcap = 0;
  double embeddingScale = 1;
  double residualScale = 1;
  double logitScale = 1;

  int64_t valueDim() const {
    return latent.rank != 0 ? latent.valueDim : headDim;
  }
  bool hasExpertLayers() const {
    return std::ranges::any_of(layers, &LayerConfig::experts);
  }
  bool hasDenseLayers() const {
    return !std::ranges::all_of(layers, &LayerConfig::experts);
  }
};

} // namespace quire

#endif
