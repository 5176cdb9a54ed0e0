#include "frontends/huggingface/Families.h"

#include <algorithm>
#include <array>
#include <string>

namespace quire::huggingface {

using Names = std::string_view;

static constexpr Names kWindowFields[] = {
    "use_sliding_window", "sliding_window", "max_window_layers", "layer_types"};
static constexpr Names kMistralFields[] = {"sliding_window"};
static constexpr Names kGemmaFields[] = {"sliding_window",
                                         "layer_types",
                                         "query_pre_attn_scalar",
                                         "attn_logit_softcapping",
                                         "final_logit_softcapping",
                                         "hidden_activation",
                                         "use_bidirectional_attention",
                                         "cache_implementation",
                                         "rope_local_base_freq",
                                         "sliding_window_pattern",
                                         "_sliding_window_pattern"};
static constexpr Names kPhiFields[] = {
    "sliding_window", "original_max_position_embeddings", "embd_pdrop",
    "resid_pdrop",
    // Written by Phi-4 mini; no implementation reads them.
    "full_attn_mod", "interpolate_factor"};
static constexpr Names kGraniteFields[] = {
    "embedding_multiplier", "residual_multiplier", "attention_multiplier",
    "logits_scaling"};

static constexpr Names kQwenMoeFields[] = {
    "use_sliding_window", "sliding_window", "max_window_layers", "layer_types",
    "qkv_bias"};

static constexpr std::array kFamilies = {
    Family{.className = "LlamaForCausalLM", .modelType = "llama"},
    Family{.className = "MistralForCausalLM",
           .modelType = "mistral",
           .kvHeads = 8,
           .maxContext = 131072,
           .windows = WindowRule::AllLayers,
           .ownFields = kMistralFields},
    Family{.className = "Qwen2ForCausalLM",
           .modelType = "qwen2",
           .queryKeyValueBias = true,
           .kvHeads = 32,
           .maxContext = 32768,
           .windows = WindowRule::FromLayer,
           .ownFields = kWindowFields},
    Family{.className = "MixtralForCausalLM",
           .modelType = "mixtral",
           .normEpsilon = 1e-5,
           .kvHeads = 8,
           .maxContext = 131072,
           .window = 0,
           .windows = WindowRule::AllLayers,
           .ropeBase = 1e6,
           .experts = ExpertRule::Mixtral,
           .ownFields = kMistralFields},
    Family{.className = "Qwen2MoeForCausalLM",
           .modelType = "qwen2_moe",
           .queryKeyValueBias = true,
           .kvHeads = 16,
           .maxContext = 32768,
           .windows = WindowRule::EverySecondBelow,
           .experts = ExpertRule::Qwen2,
           .ownFields = kQwenMoeFields},
    Family{.className = "Qwen3MoeForCausalLM",
           .modelType = "qwen3_moe",
           .queryKeyNorm = QueryKeyNorm::PerHead,
           .kvHeads = 4,
           .maxContext = 32768,
           .windows = WindowRule::AllIfUsed,
           .experts = ExpertRule::Qwen3,
           .ownFields = kWindowFields},
    Family{.className = "Qwen3ForCausalLM",
           .modelType = "qwen3",
           .queryKeyNorm = QueryKeyNorm::PerHead,
           .headDim = 128,
           .kvHeads = 32,
           .maxContext = 32768,
           .windows = WindowRule::FromLayer,
           .ownFields = kWindowFields},
    Family{.className = "Gemma2ForCausalLM",
           .modelType = "gemma2",
           .norms = NormPlacement::Sandwich,
           .gemma = true,
           .tiedHead = true,
           .headDim = 256,
           .kvHeads = 4,
           .maxContext = 8192,
           .windows = WindowRule::EverySecond,
           .ownFields = kGemmaFields},
    Family{.className = "Gemma3ForCausalLM",
           .modelType = "gemma3_text",
           .norms = NormPlacement::Sandwich,
           .queryKeyNorm = QueryKeyNorm::PerHead,
           .gemma = true,
           .tiedHead = true,
           .headDim = 256,
           .kvHeads = 4,
           .maxContext = 131072,
           .windows = WindowRule::AllButEverySixth,
           .ropeBase = 1e6,
           .ownFields = kGemmaFields},
    Family{.className = "Phi3ForCausalLM",
           .modelType = "phi3",
           .normEpsilon = 1e-5,
           .maxContext = 4096,
           .window = 0,
           .windows = WindowRule::AllLayers,
           .ownFields = kPhiFields},
    Family{.className = "GraniteForCausalLM",
           .modelType = "granite",
           .ownFields = kGraniteFields},
    Family{.className = "Olmo2ForCausalLM",
           .modelType = "olmo2",
           .norms = NormPlacement::Post,
           .queryKeyNorm = QueryKeyNorm::Full,
           .normEpsilon = 1e-5},
    Family{.className = "DeepseekV2ForCausalLM",
           .modelType = "deepseek_v2",
           .experts = ExpertRule::DeepSeekV2,
           .latent = LatentRule::DeepSeekV2},
    Family{.className = "DeepseekV3ForCausalLM",
           .modelType = "deepseek_v3",
           .maxContext = 4096,
           .experts = ExpertRule::DeepSeekV3,
           .latent = LatentRule::DeepSeekV3},
    // Kimi-K2 is that class with a name of its own.
    Family{.className = "DeepseekV3ForCausalLM",
           .modelType = "kimi_k2",
           .maxContext = 4096,
           .experts = ExpertRule::DeepSeekV3,
           .latent = LatentRule::DeepSeekV3},
    Family{.className = "MiniCPM3ForCausalLM",
           .modelType = "minicpm3",
           .tiedHead = true,
           .normEpsilon = 1e-5,
           .maxContext = 32768,
           .latent = LatentRule::MiniCpm3},
};

static const Family *findBy(std::string_view Family::*field,
                            std::string_view value) {
  const auto *found = std::ranges::find(kFamilies, value, field);
  return found == kFamilies.end() ? nullptr : found;
}

const Family *findFamily(std::string_view className,
                         std::string_view modelType) {
  for (const Family &family : kFamilies) {
    if (family.className == className && family.modelType == modelType) {
      return &family;
    }
  }
  return findBy(&Family::className, className);
}

const Family *findFamilyOfType(std::string_view modelType) {
  return findBy(&Family::modelType, modelType);
}

std::string familyNames() {
  std::string result;
  for (const Family &family : kFamilies) {
    if (&family != findFamily(family.className)) {
      continue; // listed already
    }
    result += result.empty() ? "" : ", ";
    result += family.className;
  }
  return result;
}

// What every family reads, and what does not change the numbers of inference.
static constexpr std::array kCommonFields = {
    Names("architectures"), Names("model_type"), Names("vocab_size"),
    Names("hidden_size"), Names("intermediate_size"),
    Names("num_hidden_layers"), Names("num_attention_heads"),
    Names("num_key_value_heads"), Names("head_dim"), Names("hidden_act"),
    Names("max_position_embeddings"), Names("rms_norm_eps"),
    Names("tie_word_embeddings"), Names("attention_bias"), Names("mlp_bias"),
    Names("rope_theta"), Names("rope_scaling"), Names("rope_parameters"),
    Names("partial_rotary_factor"), Names("quantization_config"),
    // No effect on inference.
    Names("torch_dtype"), Names("dtype"), Names("transformers_version"),
    Names("use_cache"), Names("bos_token_id"), Names("eos_token_id"),
    Names("pad_token_id"), Names("unk_token_id"), Names("sep_token_id"),
    Names("initializer_range"), Names("attention_dropout"),
    Names("hidden_dropout"), Names("pretraining_tp"), Names("auto_map"),
    Names("attn_implementation"), Names("id2label"), Names("label2id"),
    Names("return_dict"), Names("output_attentions"),
    Names("output_hidden_states"), Names("chunk_size_feed_forward"),
    Names("is_encoder_decoder"), Names("problem_type"),
    Names("tokenizer_class"), Names("is_llama_config"),
    Names("transformers.js_config"), Names("max_length"), Names("do_sample"),
    Names("temperature"), Names("top_p"), Names("unsloth_fixed"),
    Names("unsloth_version"), Names("max_sequence_length"),
    Names("model_max_length")};

bool isCommonField(std::string_view name) {
  return std::ranges::find(kCommonFields, name) != kCommonFields.end();
}

} // namespace quire::huggingface
