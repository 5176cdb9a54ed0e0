// One mixture of experts in every spelling: Hugging Face's separate tensors and
// stacks, GGUF's stacks and, of older files, separate tensors.

#include "tests/frontends/ImportedLogits.h"
#include "tests/frontends/TinyWeights.h"

#include "mlir/IR/Diagnostics.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace quire::test {
namespace {

constexpr int64_t kExperts = 4;
constexpr int64_t kInner = TinyWeights::kInner;
constexpr int64_t kHidden = TinyWeights::kHidden;

using Values = std::vector<float>;

/// The experts of one layer, each matrix by itself.
struct Experts {
  Values router;
  std::vector<Values> gate, up, down;
};

class Spellings : public ::testing::Test {
protected:
  Spellings() {
    std::erase_if(weights.tensors, [](const TinyTensor &tensor) {
      return tensor.huggingFace.find("mlp.") != std::string::npos;
    });
    for (int64_t i = 0; i < TinyWeights::kLayers; ++i) {
      Experts experts;
      experts.router = draw(kExperts * kHidden);
      for (int64_t e = 0; e < kExperts; ++e) {
        experts.gate.push_back(draw(kInner * kHidden));
        experts.up.push_back(draw(kInner * kHidden));
        experts.down.push_back(draw(kHidden * kInner));
      }
      layers.push_back(std::move(experts));
    }
  }

  Values draw(int64_t count) {
    std::normal_distribution<float> normal(0, 0.3f);
    Values values(count);
    for (float &value : values) {
      value = normal(random);
    }
    return values;
  }

  static void append(Values &to, const Values &from) {
    to.insert(to.end(), from.begin(), from.end());
  }
  static Values stack(const std::vector<Values> &matrices) {
    Values all;
    for (const Values &matrix : matrices) {
      append(all, matrix);
    }
    return all;
  }

  /// The model without its experts.
  SafetensorsWriter huggingFace() {
    directory.write("config.json", R"({"architectures": ["MixtralForCausalLM"],
      "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48,
      "num_hidden_layers": 2, "num_attention_heads": 4,
      "num_key_value_heads": 2, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
      "num_local_experts": 4, "num_experts_per_tok": 2,
      "max_position_embeddings": 64})");
    SafetensorsWriter writer;
    for (const TinyTensor &tensor : weights.tensors) {
      writer.floats(tensor.huggingFace, tensor.shape, tensor.values);
    }
    return writer;
  }
  GgufWriter gguf() {
    GgufWriter writer = TinyWeights::ggufHead("llama");
    writer.u32("llama.expert_count", kExperts)
        .u32("llama.expert_used_count", 2);
    weights.addTo(writer, true);
    return writer;
  }
  static void add(GgufWriter &writer, const std::string &name,
                  const std::vector<uint64_t> &shape, const Values &values) {
    writer.tensor(name, NumberFormat::F32, shape,
                  {reinterpret_cast<const char *>(values.data()),
                   values.size() * sizeof(float)});
  }

  std::vector<float> separate() {
    SafetensorsWriter writer = huggingFace();
    for (size_t i = 0; i < layers.size(); ++i) {
      std::string at =
          "model.layers." + std::to_string(i) + ".block_sparse_moe.";
      writer.floats(at + "gate.weight", {kExperts, kHidden}, layers[i].router);
      for (size_t e = 0; e < kExperts; ++e) {
        std::string expert = at + "experts." + std::to_string(e);
        writer
            .floats(expert + ".w1.weight", {kInner, kHidden}, layers[i].gate[e])
            .floats(expert + ".w3.weight", {kInner, kHidden}, layers[i].up[e])
            .floats(expert + ".w2.weight", {kHidden, kInner},
                    layers[i].down[e]);
      }
    }
    writer.write(directory.file("model.safetensors"));
    return logitsOf(directory.path());
  }

  TemporaryDirectory directory;
  TinyWeights weights{false};
  std::vector<Experts> layers;
  std::mt19937 random{11};
};

TEST_F(Spellings, HuggingFaceStacks) {
  auto wanted = separate();
  SafetensorsWriter writer = huggingFace();
  for (size_t i = 0; i < layers.size(); ++i) {
    std::string at = "model.layers." + std::to_string(i) + ".mlp.";
    Values gateUp;
    for (size_t e = 0; e < kExperts; ++e) {
      append(gateUp, layers[i].gate[e]);
      append(gateUp, layers[i].up[e]);
    }
    writer.floats(at + "gate.weight", {kExperts, kHidden}, layers[i].router)
        .floats(at + "experts.gate_up_proj", {kExperts, 2 * kInner, kHidden},
                gateUp)
        .floats(at + "experts.down_proj", {kExperts, kHidden, kInner},
                stack(layers[i].down));
  }
  writer.write(directory.file("model.safetensors"));
  expectNear(logitsOf(directory.path()), wanted);
}

TEST_F(Spellings, GgufStacks) {
  auto wanted = separate();
  GgufWriter writer = gguf();
  for (size_t i = 0; i < layers.size(); ++i) {
    std::string at = "blk." + std::to_string(i) + ".ffn_";
    add(writer, at + "gate_inp.weight", {kExperts, kHidden}, layers[i].router);
    add(writer, at + "gate_exps.weight", {kExperts, kInner, kHidden},
        stack(layers[i].gate));
    add(writer, at + "up_exps.weight", {kExperts, kInner, kHidden},
        stack(layers[i].up));
    add(writer, at + "down_exps.weight", {kExperts, kHidden, kInner},
        stack(layers[i].down));
  }
  writer.write(directory.file("model.gguf"));
  expectNear(logitsOf(directory.file("model.gguf")), wanted);
}

TEST_F(Spellings, GgufFromBeforeStacks) {
  auto wanted = separate();
  GgufWriter writer = gguf();
  for (size_t i = 0; i < layers.size(); ++i) {
    std::string at = "blk." + std::to_string(i) + ".ffn_";
    add(writer, at + "gate_inp.weight", {kExperts, kHidden}, layers[i].router);
    for (size_t e = 0; e < kExperts; ++e) {
      std::string end = "." + std::to_string(e) + ".weight";
      add(writer, at + "gate" + end, {kInner, kHidden}, layers[i].gate[e]);
      add(writer, at + "up" + end, {kInner, kHidden}, layers[i].up[e]);
      add(writer, at + "down" + end, {kHidden, kInner}, layers[i].down[e]);
    }
  }
  writer.write(directory.file("model.gguf"));
  expectNear(logitsOf(directory.file("model.gguf")), wanted);
}

TEST_F(Spellings, AMissingExpertIsNamed) {
  layers[1].down.pop_back();
  SafetensorsWriter writer = huggingFace();
  for (size_t i = 0; i < layers.size(); ++i) {
    std::string at = "model.layers." + std::to_string(i) + ".block_sparse_moe.";
    writer.floats(at + "gate.weight", {kExperts, kHidden}, layers[i].router);
    for (size_t e = 0; e < layers[i].down.size(); ++e) {
      std::string expert = at + "experts." + std::to_string(e);
      writer.floats(expert + ".w1.weight", {kInner, kHidden}, layers[i].gate[e])
          .floats(expert + ".w3.weight", {kInner, kHidden}, layers[i].up[e])
          .floats(expert + ".w2.weight", {kHidden, kInner}, layers[i].down[e]);
    }
  }
  writer.write(directory.file("model.safetensors"));
  auto checkpoint = openCheckpoint(directory.path());
  ASSERT_TRUE(checkpoint.ok());
  mlir::MLIRContext context;
  std::string said;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &text) {
    said += text.str();
    return mlir::success();
  });
  EXPECT_TRUE(mlir::failed(importCheckpoint(context, **checkpoint, 0)));
  EXPECT_THAT(said, ::testing::HasSubstr(
                        "lacks tensor 'model.layers.1.block_sparse_moe."
                        "experts.3.w1.weight'"));
}

} // namespace
} // namespace quire::test
