// One small Llama-form model's random weights, to be written in every
// container: as a Hugging Face directory, or as GGUF with query and key rows
// in the order an architecture asks for.

#ifndef QUIRE_TESTS_FRONTENDS_TINYWEIGHTS_H
#define QUIRE_TESTS_FRONTENDS_TINYWEIGHTS_H

#include "tests/support/GgufWriter.h"
#include "tests/support/SafetensorsWriter.h"
#include "tests/support/TemporaryDirectory.h"

#include <random>
#include <string>
#include <vector>

namespace quire::test {

struct TinyTensor {
  std::string huggingFace, gguf;
  std::vector<int64_t> shape;
  std::vector<float> values;
  int64_t heads = 0; // of rows that rotate
};

class TinyWeights {
public:
  static constexpr int64_t kLayers = 2, kHidden = 32, kHeads = 4, kKvHeads = 2,
                           kHeadDim = 8, kInner = 48, kVocabulary = 64;

  explicit TinyWeights(bool queryKeyValueBias) {
    add("model.embed_tokens.weight", "token_embd.weight",
        {kVocabulary, kHidden});
    add("model.norm.weight", "output_norm.weight", {kHidden});
    add("lm_head.weight", "output.weight", {kVocabulary, kHidden});
    for (int64_t i = 0; i < kLayers; ++i) {
      std::string from = "model.layers." + std::to_string(i) + ".";
      std::string to = "blk." + std::to_string(i) + ".";
      addRotating(from + "self_attn.q_proj", to + "attn_q", kHeads,
                  queryKeyValueBias);
      addRotating(from + "self_attn.k_proj", to + "attn_k", kKvHeads,
                  queryKeyValueBias);
      add(from + "self_attn.v_proj.weight", to + "attn_v.weight",
          {kKvHeads * kHeadDim, kHidden});
      if (queryKeyValueBias) {
        add(from + "self_attn.v_proj.bias", to + "attn_v.bias",
            {kKvHeads * kHeadDim});
      }
      add(from + "self_attn.o_proj.weight", to + "attn_output.weight",
          {kHidden, kHeads * kHeadDim});
      add(from + "input_layernorm.weight", to + "attn_norm.weight", {kHidden});
      add(from + "post_attention_layernorm.weight", to + "ffn_norm.weight",
          {kHidden});
      add(from + "mlp.gate_proj.weight", to + "ffn_gate.weight",
          {kInner, kHidden});
      add(from + "mlp.up_proj.weight", to + "ffn_up.weight", {kInner, kHidden});
      add(from + "mlp.down_proj.weight", to + "ffn_down.weight",
          {kHidden, kInner});
    }
  }

  /// A directory's files; `architecture` is the class.
  void writeHuggingFace(const TemporaryDirectory &directory,
                        const std::string &architecture) const {
    directory.write("config.json",
                    R"({"architectures": [")" + architecture + R"("],
      "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48,
      "num_hidden_layers": 2, "num_attention_heads": 4,
      "num_key_value_heads": 2, "rms_norm_eps": 1e-5,
      "max_position_embeddings": 64})");
    SafetensorsWriter writer;
    for (const TinyTensor &tensor : tensors) {
      writer.floats(tensor.huggingFace, tensor.shape, tensor.values);
    }
    writer.write(directory.file("model.safetensors"));
  }

  /// The metadata of `architecture`, without tensors.
  static GgufWriter ggufHead(const std::string &architecture) {
    GgufWriter writer;
    std::string at = architecture + ".";
    writer.string("general.architecture", architecture)
        .u32(at + "block_count", kLayers)
        .u32(at + "context_length", 64)
        .u32(at + "embedding_length", kHidden)
        .u32(at + "feed_forward_length", kInner)
        .u32(at + "attention.head_count", kHeads)
        .u32(at + "attention.head_count_kv", kKvHeads)
        .f32(at + "attention.layer_norm_rms_epsilon", 1e-5f);
    return writer;
  }

  /// Adds the tensors; `interleaved` puts the rows of queries and keys in the
  /// order of GGUF's `llama`: first and second half of a head alternate.
  void addTo(GgufWriter &writer, bool interleaved) const {
    for (const TinyTensor &tensor : tensors) {
      std::vector<float> values = tensor.values;
      if (interleaved && tensor.heads != 0) {
        values = interleaveRows(tensor);
      }
      std::vector<uint64_t> shape(tensor.shape.begin(), tensor.shape.end());
      writer.tensor(tensor.gguf, NumberFormat::F32, shape,
                    {reinterpret_cast<const char *>(values.data()),
                     values.size() * sizeof(float)});
    }
  }

  std::vector<TinyTensor> tensors;

private:
  void add(const std::string &huggingFace, const std::string &gguf,
           const std::vector<int64_t> &shape, int64_t heads = 0) {
    bool norm = huggingFace.find("norm") != std::string::npos;
    int64_t count = shape.size() == 1 ? shape[0] : shape[0] * shape[1];
    std::normal_distribution<float> draw(norm ? 1.0f : 0.0f, 0.3f);
    TinyTensor tensor{huggingFace, gguf, shape, {}, heads};
    for (int64_t i = 0; i < count; ++i) {
      tensor.values.push_back(draw(random));
    }
    tensors.push_back(std::move(tensor));
  }

  void addRotating(const std::string &huggingFace, const std::string &gguf,
                   int64_t heads, bool bias) {
    add(huggingFace + ".weight", gguf + ".weight", {heads * kHeadDim, kHidden},
        heads);
    if (bias) {
      add(huggingFace + ".bias", gguf + ".bias", {heads * kHeadDim}, heads);
    }
  }

  static std::vector<float> interleaveRows(const TinyTensor &tensor) {
    size_t columns = tensor.values.size() / size_t(tensor.shape[0]);
    std::vector<float> result;
    for (int64_t head = 0; head < tensor.heads; ++head) {
      for (int64_t i = 0; i < kHeadDim; ++i) {
        int64_t row = head * kHeadDim + i / 2 + (i % 2) * (kHeadDim / 2);
        auto begin = tensor.values.begin() + row * int64_t(columns);
        result.insert(result.end(), begin, begin + int64_t(columns));
      }
    }
    return result;
  }

  std::mt19937 random{7};
};

} // namespace quire::test

#endif
