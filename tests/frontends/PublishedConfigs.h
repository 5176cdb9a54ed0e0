// Configurations of published models, written down with the fields their files
// have, and the bytes of fp16 keys and values a token should take.

#ifndef QUIRE_TESTS_FRONTENDS_PUBLISHEDCONFIGS_H
#define QUIRE_TESTS_FRONTENDS_PUBLISHEDCONFIGS_H

#include <cstdint>
#include <string>

namespace quire::test {

inline constexpr const char *kLlama2Of7B = R"({
  "architectures": ["LlamaForCausalLM"], "model_type": "llama",
  "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
  "num_hidden_layers": 32, "num_attention_heads": 32,
  "num_key_value_heads": 32, "max_position_embeddings": 4096,
  "hidden_act": "silu", "rms_norm_eps": 1e-05, "rope_scaling": null,
  "pretraining_tp": 1, "tie_word_embeddings": false, "use_cache": true,
  "bos_token_id": 1, "eos_token_id": 2, "torch_dtype": "float16"})";

inline constexpr const char *kLlama2Of70B = R"({
  "architectures": ["LlamaForCausalLM"], "model_type": "llama",
  "vocab_size": 32000, "hidden_size": 8192, "intermediate_size": 28672,
  "num_hidden_layers": 80, "num_attention_heads": 64,
  "num_key_value_heads": 8, "max_position_embeddings": 4096,
  "hidden_act": "silu", "rms_norm_eps": 1e-05, "rope_scaling": null,
  "tie_word_embeddings": false, "torch_dtype": "float16"})";

inline constexpr const char *kMistral7B = R"({
  "architectures": ["MistralForCausalLM"], "model_type": "mistral",
  "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
  "num_hidden_layers": 32, "num_attention_heads": 32,
  "num_key_value_heads": 8, "max_position_embeddings": 32768,
  "hidden_act": "silu", "rms_norm_eps": 1e-05, "rope_theta": 10000.0,
  "sliding_window": 4096, "tie_word_embeddings": false,
  "torch_dtype": "bfloat16"})";

inline constexpr const char *kQwen25Of1B5 = R"({
  "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2",
  "vocab_size": 151936, "hidden_size": 1536, "intermediate_size": 8960,
  "num_hidden_layers": 28, "num_attention_heads": 12,
  "num_key_value_heads": 2, "max_position_embeddings": 131072,
  "max_window_layers": 28, "sliding_window": 131072,
  "use_sliding_window": false, "use_mrope": false, "attention_dropout": 0.0,
  "hidden_act": "silu", "rms_norm_eps": 1e-06, "rope_theta": 1000000.0,
  "tie_word_embeddings": true, "torch_dtype": "bfloat16"})";

inline constexpr const char *kGemma3Of4BText = R"({
  "architectures": ["Gemma3ForCausalLM"], "model_type": "gemma3_text",
  "vocab_size": 262208, "hidden_size": 2560, "intermediate_size": 10240,
  "num_hidden_layers": 34, "num_attention_heads": 8,
  "num_key_value_heads": 4, "head_dim": 256,
  "max_position_embeddings": 131072, "query_pre_attn_scalar": 256,
  "hidden_activation": "gelu_pytorch_tanh", "rms_norm_eps": 1e-06,
  "rope_theta": 1000000.0, "rope_local_base_freq": 10000.0,
  "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
  "sliding_window": 1024, "sliding_window_pattern": 6,
  "attn_logit_softcapping": null, "final_logit_softcapping": null,
  "cache_implementation": "hybrid", "torch_dtype": "bfloat16"})";

inline constexpr const char *kMixtral8x7B = R"({
  "architectures": ["MixtralForCausalLM"], "model_type": "mixtral",
  "attention_dropout": 0.0, "bos_token_id": 1, "eos_token_id": 2,
  "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02,
  "intermediate_size": 14336, "max_position_embeddings": 32768,
  "num_attention_heads": 32, "num_experts_per_tok": 2,
  "num_hidden_layers": 32, "num_key_value_heads": 8, "num_local_experts": 8,
  "output_router_logits": false, "rms_norm_eps": 1e-05,
  "rope_theta": 1000000.0, "router_aux_loss_coef": 0.02,
  "sliding_window": null, "tie_word_embeddings": false,
  "torch_dtype": "bfloat16", "use_cache": true, "vocab_size": 32000})";

inline constexpr const char *kQwen15MoeA27B = R"({
  "architectures": ["Qwen2MoeForCausalLM"], "model_type": "qwen2_moe",
  "attention_dropout": 0.0, "decoder_sparse_step": 1, "hidden_act": "silu",
  "hidden_size": 2048, "intermediate_size": 5632,
  "max_position_embeddings": 8192, "max_window_layers": 21,
  "moe_intermediate_size": 1408, "norm_topk_prob": false,
  "num_attention_heads": 16, "num_experts": 60, "num_experts_per_tok": 4,
  "num_hidden_layers": 24, "num_key_value_heads": 16, "qkv_bias": true,
  "rms_norm_eps": 1e-06, "rope_theta": 1000000.0,
  "router_aux_loss_coef": 0.001, "shared_expert_intermediate_size": 5632,
  "sliding_window": 32768, "tie_word_embeddings": false,
  "torch_dtype": "bfloat16", "use_sliding_window": false,
  "vocab_size": 151936})";

inline constexpr const char *kQwen3Of30BA3B = R"({
  "architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe",
  "attention_bias": false, "attention_dropout": 0.0,
  "decoder_sparse_step": 1, "head_dim": 128, "hidden_act": "silu",
  "hidden_size": 2048, "intermediate_size": 6144,
  "max_position_embeddings": 40960, "max_window_layers": 48,
  "mlp_only_layers": [], "moe_intermediate_size": 768,
  "norm_topk_prob": true, "num_attention_heads": 32, "num_experts": 128,
  "num_experts_per_tok": 8, "num_hidden_layers": 48,
  "num_key_value_heads": 4, "output_router_logits": false,
  "rms_norm_eps": 1e-06, "rope_scaling": null, "rope_theta": 1000000.0,
  "router_aux_loss_coef": 0.001, "sliding_window": null,
  "tie_word_embeddings": false, "torch_dtype": "bfloat16",
  "use_sliding_window": false, "vocab_size": 151936})";

inline constexpr const char *kDeepSeekV3 = R"({
  "architectures": ["DeepseekV3ForCausalLM"], "attention_bias": false,
  "attention_dropout": 0.0,
  "auto_map": {"AutoConfig": "configuration_deepseek.DeepseekV3Config"},
  "bos_token_id": 0, "eos_token_id": 1, "ep_size": 1,
  "first_k_dense_replace": 3, "hidden_act": "silu", "hidden_size": 7168,
  "initializer_range": 0.02, "intermediate_size": 18432, "kv_lora_rank": 512,
  "max_position_embeddings": 163840, "model_type": "deepseek_v3",
  "moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_group": 8,
  "n_routed_experts": 256, "n_shared_experts": 1, "norm_topk_prob": true,
  "num_attention_heads": 128, "num_experts_per_tok": 8,
  "num_hidden_layers": 61, "num_key_value_heads": 128,
  "num_nextn_predict_layers": 1, "q_lora_rank": 1536, "qk_nope_head_dim": 128,
  "qk_rope_head_dim": 64,
  "quantization_config": {"activation_scheme": "dynamic", "fmt": "e4m3",
    "quant_method": "fp8", "weight_block_size": [128, 128]},
  "rms_norm_eps": 1e-06,
  "rope_scaling": {"beta_fast": 32, "beta_slow": 1, "factor": 40,
    "mscale": 1.0, "mscale_all_dim": 1.0,
    "original_max_position_embeddings": 4096, "type": "yarn"},
  "rope_theta": 10000, "routed_scaling_factor": 2.5,
  "scoring_func": "sigmoid", "tie_word_embeddings": false, "topk_group": 4,
  "topk_method": "noaux_tc", "torch_dtype": "bfloat16",
  "transformers_version": "4.33.1", "use_cache": true,
  "v_head_dim": 128, "vocab_size": 129280})";

/// `n` factors that grow, in place of the published ones.
inline std::string growingFactors(int n) {
  std::string text = "[1.0";
  for (int i = 1; i < n; ++i) {
    text += ", " + std::to_string(1.0 + 0.5 * i);
  }
  return text + "]";
}

inline std::string phi35Mini() {
  return R"({
  "architectures": ["Phi3ForCausalLM"], "model_type": "phi3",
  "auto_map": {"AutoConfig": "configuration_phi3.Phi3Config"},
  "vocab_size": 32064, "hidden_size": 3072, "intermediate_size": 8192,
  "num_hidden_layers": 32, "num_attention_heads": 32,
  "num_key_value_heads": 32, "max_position_embeddings": 131072,
  "original_max_position_embeddings": 4096, "hidden_act": "silu",
  "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "sliding_window": 262144,
  "attention_bias": false, "embd_pdrop": 0.0, "resid_pdrop": 0.0,
  "tie_word_embeddings": false, "torch_dtype": "bfloat16",
  "rope_scaling": {"type": "longrope", "short_factor": )" +
         growingFactors(48) + R"(, "long_factor": )" + growingFactors(48) +
         "}}";
}

/// deepseek-ai/DeepSeek-V2.
inline constexpr char kDeepSeekV2[] =
    R"({"architectures": ["DeepseekV2ForCausalLM"], "attention_bias": false,
  "bos_token_id": 100000, "eos_token_id": 100001, "first_k_dense_replace": 1,
  "hidden_act": "silu", "hidden_size": 5120, "intermediate_size": 12288,
  "kv_lora_rank": 512, "max_position_embeddings": 163840, "model_type":
  "deepseek_v2", "moe_intermediate_size": 1536, "moe_layer_freq": 1,
  "n_group": 8, "n_routed_experts": 160, "n_shared_experts": 2,
  "norm_topk_prob": false, "num_attention_heads": 128, "num_experts_per_tok":
  6, "num_hidden_layers": 60, "num_key_value_heads": 128, "q_lora_rank": 1536,
  "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "rms_norm_eps": 1e-06,
  "rope_scaling": {"beta_fast": 32, "beta_slow": 1, "factor": 40, "mscale":
  0.707, "mscale_all_dim": 0.707, "original_max_position_embeddings": 4096,
  "type": "yarn"}, "rope_theta": 10000, "routed_scaling_factor": 16.0,
  "scoring_func": "softmax", "tie_word_embeddings": false, "topk_group": 3,
  "topk_method": "group_limited_greedy", "torch_dtype": "bfloat16",
  "v_head_dim": 128, "vocab_size": 102400})";

struct PublishedConfig {
  const char *name;
  std::string text;
  int64_t layers;
  int64_t kvBytesPerToken; // layers * kv heads * 2 * head dim * 2 bytes, or
                           // what is said beside it
};

inline const PublishedConfig kPublished[] = {
    {"Llama2Of7B", kLlama2Of7B, 32, 32 * 32 * 2 * 128 * 2},
    {"Llama2Of70B", kLlama2Of70B, 80, 80 * 8 * 2 * 128 * 2},
    {"Mistral7B", kMistral7B, 32, 32 * 8 * 2 * 128 * 2},
    {"Qwen25Of1B5", kQwen25Of1B5, 28, 28 * 2 * 2 * 128 * 2},
    {"Gemma3Of4BText", kGemma3Of4BText, 34, 34 * 4 * 2 * 256 * 2},
    {"Mixtral8x7B", kMixtral8x7B, 32, 32 * 8 * 2 * 128 * 2},
    {"Qwen15MoeA27B", kQwen15MoeA27B, 24, 24 * 16 * 2 * 128 * 2},
    {"Qwen3Of30BA3B", kQwen3Of30BA3B, 48, 48 * 4 * 2 * 128 * 2},
    {"Phi35Mini", phi35Mini(), 32, 32 * 32 * 2 * 96 * 2},
    // layers * (latent + rotary key) * 2 bytes
    {"DeepSeekV2", kDeepSeekV2, 60, 60 * (512 + 64) * 2},
    {"DeepSeekV3", kDeepSeekV3, 61, 61 * (512 + 64) * 2},
};

} // namespace quire::test

#endif
