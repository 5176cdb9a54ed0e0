// One model with latent attention, from Hugging Face's files and from GGUF's.

#include "tests/frontends/ImportedLogits.h"
#include "tests/frontends/TinyWeights.h"

#include "gtest/gtest.h"

namespace quire::test {
namespace {

constexpr int64_t kHidden = TinyWeights::kHidden;
constexpr int64_t kHeads = TinyWeights::kHeads;
constexpr int64_t kRank = 16, kQueryRank = 12, kContent = 8, kRotary = 4,
                  kValue = 6;

/// The dense model with its attention exchanged.
class LatentImport : public ::testing::Test {
protected:
  LatentImport() {
    std::erase_if(weights.tensors, [](const TinyTensor &tensor) {
      return tensor.huggingFace.find("self_attn.") != std::string::npos;
    });
    for (int64_t i = 0; i < TinyWeights::kLayers; ++i) {
      std::string from = "model.layers." + std::to_string(i) + ".self_attn.";
      std::string to = "blk." + std::to_string(i) + ".attn_";
      add(from + "q_a_proj", to + "q_a", {kQueryRank, kHidden});
      add(from + "q_a_layernorm", to + "q_a_norm", {kQueryRank});
      add(from + "q_b_proj", to + "q_b",
          {kHeads * (kContent + kRotary), kQueryRank});
      add(from + "kv_a_proj_with_mqa", to + "kv_a_mqa",
          {kRank + kRotary, kHidden});
      add(from + "kv_a_layernorm", to + "kv_a_norm", {kRank});
      add(from + "kv_b_proj", to + "kv_b",
          {kHeads * (kContent + kValue), kRank});
      add(from + "o_proj", to + "output", {kHidden, kHeads * kValue});
    }
  }

  void add(const std::string &huggingFace, const std::string &gguf,
           const std::vector<int64_t> &shape) {
    bool norm = shape.size() == 1;
    std::normal_distribution<float> draw(norm ? 1.0f : 0.0f, 0.3f);
    TinyTensor tensor{huggingFace + ".weight", gguf + ".weight", shape, {}};
    for (int64_t i = 0; i < shape[0] * (norm ? 1 : shape[1]); ++i) {
      tensor.values.push_back(draw(random));
    }
    weights.tensors.push_back(std::move(tensor));
  }

  std::vector<float> huggingFace() {
    TemporaryDirectory directory;
    directory.write("config.json",
                    R"({"architectures": ["DeepseekV2ForCausalLM"],
      "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48,
      "num_hidden_layers": 2, "num_attention_heads": 4,
      "num_key_value_heads": 4, "rms_norm_eps": 1e-6, "q_lora_rank": 12,
      "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4,
      "v_head_dim": 6, "first_k_dense_replace": 2, "num_experts_per_tok": 1,
      "rope_scaling": {"type": "yarn", "factor": 4.0, "mscale": 0.707,
        "mscale_all_dim": 0.707, "original_max_position_embeddings": 16},
      "max_position_embeddings": 64})");
    SafetensorsWriter writer;
    for (const TinyTensor &tensor : weights.tensors) {
      writer.floats(tensor.huggingFace, tensor.shape, tensor.values);
    }
    writer.write(directory.file("model.safetensors"));
    return logitsOf(directory.path());
  }

  static GgufWriter ggufHead() {
    GgufWriter writer;
    writer.string("general.architecture", "deepseek2")
        .u32("deepseek2.block_count", TinyWeights::kLayers)
        .u32("deepseek2.context_length", 64)
        .u32("deepseek2.embedding_length", kHidden)
        .u32("deepseek2.feed_forward_length", TinyWeights::kInner)
        .u32("deepseek2.attention.head_count", kHeads)
        .f32("deepseek2.attention.layer_norm_rms_epsilon", 1e-6f)
        .u32("deepseek2.attention.q_lora_rank", kQueryRank)
        .u32("deepseek2.attention.kv_lora_rank", kRank)
        .u32("deepseek2.rope.dimension_count", kRotary)
        .string("deepseek2.rope.scaling.type", "yarn")
        .f32("deepseek2.rope.scaling.factor", 4.0f)
        .u32("deepseek2.rope.scaling.original_context_length", 16)
        .f32("deepseek2.rope.scaling.yarn_log_multiplier", 0.0707f);
    return writer;
  }

  std::vector<float> gguf(GgufWriter writer) {
    TemporaryDirectory directory;
    weights.addTo(writer, false);
    writer.write(directory.file("model.gguf"));
    return logitsOf(directory.file("model.gguf"));
  }

  TinyWeights weights{false};
  std::mt19937 random{13};
};

TEST_F(LatentImport, GgufMeansTheSameModel) {
  GgufWriter writer = ggufHead();
  writer.u32("deepseek2.attention.head_count_kv", kHeads)
      .u32("deepseek2.attention.key_length", kContent + kRotary)
      .u32("deepseek2.attention.value_length", kValue);
  expectNear(gguf(std::move(writer)), huggingFace());
}

TEST_F(LatentImport, GgufMayCountTheLatentAsOneHead) {
  GgufWriter writer = ggufHead();
  writer.u32("deepseek2.attention.head_count_kv", 1)
      .u32("deepseek2.attention.key_length", kRank + kRotary)
      .u32("deepseek2.attention.value_length", kRank)
      .u32("deepseek2.attention.key_length_mla", kContent + kRotary)
      .u32("deepseek2.attention.value_length_mla", kValue);
  expectNear(gguf(std::move(writer)), huggingFace());
}

} // namespace
} // namespace quire::test
