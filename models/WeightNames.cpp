#include "models/WeightNames.h"

#include "ir/lm/TensorName.h"
#include "models/ModelConfig.h"

namespace quire {

bool WeightName::perMatrix() const {
  return pattern.find(lm::kExpertPlace) != std::string::npos;
}

std::string WeightName::inLayer(int64_t layer, int64_t matrix) const {
  return lm::tensorName(pattern, layer, matrix);
}

WeightName WeightName::bias() const {
  constexpr std::string_view kSuffix = ".weight";
  WeightName result = *this;
  if (result.pattern.ends_with(kSuffix)) {
    result.pattern.resize(result.pattern.size() - kSuffix.size());
  }
  result.pattern += ".bias";
  return result;
}

/// Query, key and value as consecutive rows of one tensor, and likewise gate
/// and up.
static void useFusedTensors(const ModelConfig &config, const char *qkv,
                            const char *gateUp, WeightNames &names) {
  int64_t queryRows = config.heads * config.headDim;
  int64_t keyRows = config.kvHeads * config.headDim;
  int64_t qkvRows = queryRows + 2 * keyRows;
  names.query = {qkv, 0, qkvRows};
  names.key = {qkv, queryRows, qkvRows};
  names.value = {qkv, queryRows + keyRows, qkvRows};
  names.gate = {gateUp, 0, 2 * config.intermediate};
  names.up = {gateUp, config.intermediate, 2 * config.intermediate};
}

/// The latent and the rotary key are consecutive rows of one tensor.
static void nameLatents(const ModelConfig &config, const std::string &attention,
                        WeightNames &names) {
  names.queryDown = {attention + "q_a_proj.weight"};
  names.queryDownNorm = {attention + "q_a_layernorm.weight"};
  names.queryUp = {attention + "q_b_proj.weight"};
  const std::string both = attention + "kv_a_proj_with_mqa.weight";
  int64_t rows = config.latent.rank + config.latent.rotaryDim;
  names.latent = {both, 0, rows};
  names.rotaryKey = {both, config.latent.rank, rows};
  names.latentNorm = {attention + "kv_a_layernorm.weight"};
  names.keyValueUp = {attention + "kv_b_proj.weight"};
}

/// Separate tensors for each expert, and what stands beside them.
static void nameExperts(const ModelConfig &config, const std::string &mlp,
                        WeightNames &names) {
  names.router = {mlp + "gate.weight"};
  names.routerBias = {mlp + "gate.e_score_correction_bias"};
  const std::string expert = mlp + "experts.{expert}.";
  bool mixtral = config.architecture == "mixtral";
  names.expertGate = {expert + (mixtral ? "w1.weight" : "gate_proj.weight")};
  names.expertUp = {expert + (mixtral ? "w3.weight" : "up_proj.weight")};
  names.expertDown = {expert + (mixtral ? "w2.weight" : "down_proj.weight")};
  const std::string shared =
      mlp + (config.experts.sharedGate ? "shared_expert." : "shared_experts.");
  names.sharedGate = {shared + "gate_proj.weight"};
  names.sharedUp = {shared + "up_proj.weight"};
  names.sharedDown = {shared + "down_proj.weight"};
  names.sharedRouter = {mlp + "shared_expert_gate.weight"};
}

void useStackedExperts(const ModelConfig &config, WeightNames &names) {
  const std::string mlp = "model.layers.{}.mlp.";
  int64_t inner = config.experts.intermediate;
  names.router = {mlp + "gate.weight"};
  names.expertGate = {mlp + "experts.gate_up_proj", 0, 2 * inner};
  names.expertUp = {mlp + "experts.gate_up_proj", inner, 2 * inner};
  names.expertDown = {mlp + "experts.down_proj"};
}

WeightNames huggingFaceWeightNames(const ModelConfig &config) {
  WeightNames names;
  names.embedding = {"model.embed_tokens.weight"};
  names.head = {"lm_head.weight"};
  names.finalNorm = {"model.norm.weight"};
  const std::string layer = "model.layers.{}.";
  const std::string attention = layer + "self_attn.";
  const std::string mlp = layer + "mlp.";
  names.query = {attention + "q_proj.weight"};
  names.key = {attention + "k_proj.weight"};
  names.value = {attention + "v_proj.weight"};
  names.attentionOutput = {attention + "o_proj.weight"};
  names.queryNorm = {attention + "q_norm.weight"};
  names.keyNorm = {attention + "k_norm.weight"};
  nameLatents(config, attention, names);
  names.gate = {mlp + "gate_proj.weight"};
  names.up = {mlp + "up_proj.weight"};
  names.down = {mlp + "down_proj.weight"};
  nameExperts(config,
              config.architecture == "mixtral" ? layer + "block_sparse_moe."
                                               : mlp,
              names);
  names.attentionNorm = {layer + "input_layernorm.weight"};
  names.postAttentionNorm = {layer + "post_attention_layernorm.weight"};
  switch (config.norms) {
  case NormPlacement::Pre:
    // Named after what it follows, though it stands before the MLP.
    names.mlpNorm = {layer + "post_attention_layernorm.weight"};
    break;
  case NormPlacement::Sandwich:
    names.mlpNorm = {layer + "pre_feedforward_layernorm.weight"};
    names.postMlpNorm = {layer + "post_feedforward_layernorm.weight"};
    break;
  case NormPlacement::Post:
    names.postMlpNorm = {layer + "post_feedforward_layernorm.weight"};
    break;
  }
  if (config.architecture == "phi3") {
    useFusedTensors(config, "model.layers.{}.self_attn.qkv_proj.weight",
                    "model.layers.{}.mlp.gate_up_proj.weight", names);
  }
  return names;
}

void useSeparateGgufExperts(WeightNames &names) {
  names.expertGate = {"blk.{}.ffn_gate.{expert}.weight"};
  names.expertUp = {"blk.{}.ffn_up.{expert}.weight"};
  names.expertDown = {"blk.{}.ffn_down.{expert}.weight"};
}

WeightNames ggufWeightNames(const ModelConfig &config) {
  WeightNames names;
  names.embedding = {"token_embd.weight"};
  names.head = {"output.weight"};
  names.finalNorm = {"output_norm.weight"};
  names.query = {"blk.{}.attn_q.weight"};
  names.key = {"blk.{}.attn_k.weight"};
  names.value = {"blk.{}.attn_v.weight"};
  names.attentionOutput = {"blk.{}.attn_output.weight"};
  names.queryDown = {"blk.{}.attn_q_a.weight"};
  names.queryDownNorm = {"blk.{}.attn_q_a_norm.weight"};
  names.queryUp = {"blk.{}.attn_q_b.weight"};
  int64_t latentRows = config.latent.rank + config.latent.rotaryDim;
  names.latent = {"blk.{}.attn_kv_a_mqa.weight", 0, latentRows};
  names.rotaryKey = {"blk.{}.attn_kv_a_mqa.weight", config.latent.rank,
                     latentRows};
  names.latentNorm = {"blk.{}.attn_kv_a_norm.weight"};
  names.keyValueUp = {"blk.{}.attn_kv_b.weight"};
  names.queryNorm = {"blk.{}.attn_q_norm.weight"};
  names.keyNorm = {"blk.{}.attn_k_norm.weight"};
  names.attentionNorm = {"blk.{}.attn_norm.weight"};
  names.postAttentionNorm = {"blk.{}.post_attention_norm.weight"};
  names.mlpNorm = {"blk.{}.ffn_norm.weight"};
  names.postMlpNorm = {"blk.{}.post_ffw_norm.weight"};
  names.gate = {"blk.{}.ffn_gate.weight"};
  names.up = {"blk.{}.ffn_up.weight"};
  names.down = {"blk.{}.ffn_down.weight"};
  names.router = {"blk.{}.ffn_gate_inp.weight"};
  names.routerBias = {"blk.{}.exp_probs_b.bias"};
  names.expertGate = {"blk.{}.ffn_gate_exps.weight"};
  names.expertUp = {"blk.{}.ffn_up_exps.weight"};
  names.expertDown = {"blk.{}.ffn_down_exps.weight"};
  names.sharedGate = {"blk.{}.ffn_gate_shexp.weight"};
  names.sharedUp = {"blk.{}.ffn_up_shexp.weight"};
  names.sharedDown = {"blk.{}.ffn_down_shexp.weight"};
  names.sharedRouter = {"blk.{}.ffn_gate_inp_shexp.weight"};
  if (config.architecture == "phi3") {
    useFusedTensors(config, "blk.{}.attn_qkv.weight", "blk.{}.ffn_up.weight",
                    names);
  }
  return names;
}

} // namespace quire
