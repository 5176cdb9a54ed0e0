// A random model of DeepSeek-V2's latent attention: two dense layers of four
// heads, in widths that a test chooses.

#ifndef QUIRE_TESTS_E2E_LATENTMODEL_H
#define QUIRE_TESTS_E2E_LATENTMODEL_H

#include "tests/e2e/RandomTensors.h"
#include "tests/support/TemporaryDirectory.h"

#include "absl/strings/str_cat.h"

namespace quire::e2e {

struct LatentWidths {
  int64_t rank;
  int64_t content; // of a head
  int64_t rotary;
  int64_t value;     // of a head
  int64_t queryRank; // 0: queries are not compressed
};

inline constexpr int64_t kLatentVocabulary = 259;

inline void writeLatentModel(const test::TemporaryDirectory &folder,
                             const LatentWidths &widths) {
  constexpr int64_t kHidden = 64, kInner = 96, kHeads = 4;
  folder.write(
      "config.json",
      absl::StrCat(
          R"({
    "architectures": ["DeepseekV2ForCausalLM"], "model_type": "deepseek_v2",
    "vocab_size": 259, "hidden_size": 64, "intermediate_size": 96,
    "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 4, "max_position_embeddings": 512,
    "rms_norm_eps": 1e-06, "rope_theta": 10000.0, "hidden_act": "silu",
    "tie_word_embeddings": false, "attention_bias": false,
    "first_k_dense_replace": 2, "n_routed_experts": 4, "n_shared_experts": 1,
    "num_experts_per_tok": 2, "moe_intermediate_size": 32,
    "topk_method": "greedy", "norm_topk_prob": false,
    "routed_scaling_factor": 1.0, "kv_lora_rank": )",
          widths.rank, ", \"qk_nope_head_dim\": ", widths.content,
          ", \"qk_rope_head_dim\": ", widths.rotary,
          ", \"v_head_dim\": ", widths.value, ", \"q_lora_rank\": ",
          widths.queryRank > 0 ? absl::StrCat(widths.queryRank) : "null", "}"));
  RandomTensors tensors;
  tensors.product("model.embed_tokens.weight", {kLatentVocabulary, kHidden});
  tensors.product("lm_head.weight", {kLatentVocabulary, kHidden});
  tensors.norm("model.norm.weight", kHidden);
  for (int layer = 0; layer < 2; ++layer) {
    std::string at = absl::StrCat("model.layers.", layer, ".");
    std::string attention = at + "self_attn.";
    tensors.norm(at + "input_layernorm.weight", kHidden);
    tensors.norm(at + "post_attention_layernorm.weight", kHidden);
    int64_t query = kHeads * (widths.content + widths.rotary);
    if (widths.queryRank > 0) {
      tensors.product(attention + "q_a_proj.weight",
                      {widths.queryRank, kHidden});
      tensors.norm(attention + "q_a_layernorm.weight", widths.queryRank);
      tensors.product(attention + "q_b_proj.weight", {query, widths.queryRank});
    } else {
      tensors.product(attention + "q_proj.weight", {query, kHidden});
    }
    tensors.product(attention + "kv_a_proj_with_mqa.weight",
                    {widths.rank + widths.rotary, kHidden});
    tensors.norm(attention + "kv_a_layernorm.weight", widths.rank);
    tensors.product(attention + "kv_b_proj.weight",
                    {kHeads * (widths.content + widths.value), widths.rank});
    tensors.product(attention + "o_proj.weight",
                    {kHidden, kHeads * widths.value});
    tensors.product(at + "mlp.gate_proj.weight", {kInner, kHidden});
    tensors.product(at + "mlp.up_proj.weight", {kInner, kHidden});
    tensors.product(at + "mlp.down_proj.weight", {kHidden, kInner});
  }
  tensors.write(folder.file("model.safetensors"));
}

} // namespace quire::e2e

#endif
