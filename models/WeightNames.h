// Where a decoder's weights stand in a checkpoint: one table per naming
// scheme, `{}` where the layer number goes and `{expert}` where the expert's
// does. Plain data.

#ifndef QUIRE_MODELS_WEIGHTNAMES_H
#define QUIRE_MODELS_WEIGHTNAMES_H

#include <cstdint>
#include <string>
#include <string_view>

namespace quire {

struct ModelConfig;

/// A tensor, or rows of it (of each of its matrices) from `rowBegin` where the
/// checkpoint stores several weights fused in one tensor.
struct WeightName {
  std::string pattern;
  int64_t rowBegin = 0;
  int64_t rowTotal = 0; // of the whole tensor; 0: it is all this weight's

  /// Whether each matrix of a stack has a tensor of its own.
  bool perMatrix() const;
  /// The tensor's name in layer `layer`, for matrix `matrix` of a stack.
  std::string inLayer(int64_t layer, int64_t matrix = 0) const;
  /// The bias that belongs to this weight.
  WeightName bias() const;
};

struct WeightNames {
  WeightName embedding, head, finalNorm;
  WeightName attentionNorm, query, key, value, attentionOutput;
  WeightName queryNorm, keyNorm, postAttentionNorm;
  // Latent attention, beside `query` (where queries are one product) and
  // `attentionOutput`.
  WeightName queryDown, queryDownNorm, queryUp;
  WeightName latent, latentNorm, rotaryKey, keyValueUp;
  WeightName mlpNorm, gate, up, down, postMlpNorm;
  // Layers with experts: stacks, and what stands beside them.
  WeightName router, routerBias, expertGate, expertUp, expertDown;
  WeightName sharedGate, sharedUp, sharedDown, sharedRouter;
};

/// Hugging Face's names ("model.layers.{}.self_attn.q_proj.weight"); the
/// config decides where norms and fused tensors differ between families.
WeightNames huggingFaceWeightNames(const ModelConfig &config);

/// The same for experts that are stored stacked ("experts.gate_up_proj"), as
/// transformers holds them since version 5.
void useStackedExperts(const ModelConfig &config, WeightNames &names);

/// The same for GGUF files from before stacks ("blk.{}.ffn_gate.3.weight").
void useSeparateGgufExperts(WeightNames &names);

/// GGUF's names ("blk.{}.attn_q.weight").
WeightNames ggufWeightNames(const ModelConfig &config);

} // namespace quire

#endif
