// A mixture of experts with dense layers, shared experts and integer weights: a
// row has the same bits in any company, and an engine says which bytes a row
// must read.

#include "runtime/engine/IsaLevel.h"
#include "tests/e2e/Harness.h"
#include "tests/e2e/Program.h"
#include "tests/e2e/RandomTensors.h"
#include "tests/e2e/ScoreCuts.h"
#include "tests/runtime/EngineHarness.h"
#include "tests/support/TemporaryDirectory.h"

#include "gtest/gtest.h"

#include <random>

namespace quire::e2e {
namespace {

constexpr int64_t kExperts = 10, kTop = 3, kHidden = 64, kInner = 96,
                  kShared = 160, kVocabulary = 259;

/// Qwen2-MoE's form; the second of three layers is dense. Outputs of 96 and
/// 160 leave supertiles with remainders.
void writeExpertModel(const test::TemporaryDirectory &folder) {
  folder.write("config.json", R"({
    "architectures": ["Qwen2MoeForCausalLM"], "model_type": "qwen2_moe",
    "vocab_size": 259, "hidden_size": 64, "intermediate_size": 128,
    "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 512,
    "rms_norm_eps": 1e-06, "num_experts": 10, "num_experts_per_tok": 3,
    "moe_intermediate_size": 96, "shared_expert_intermediate_size": 160,
    "norm_topk_prob": true, "mlp_only_layers": [1], "qkv_bias": false})");
  RandomTensors tensors;
  auto norm = [&](const std::string &name) { tensors.norm(name, kHidden); };
  tensors.product("model.embed_tokens.weight", {kVocabulary, kHidden});
  tensors.product("lm_head.weight", {kVocabulary, kHidden});
  norm("model.norm.weight");
  for (int layer = 0; layer < 3; ++layer) {
    std::string at = "model.layers." + std::to_string(layer) + ".";
    norm(at + "input_layernorm.weight");
    norm(at + "post_attention_layernorm.weight");
    tensors.product(at + "self_attn.q_proj.weight", {kHidden, kHidden});
    tensors.product(at + "self_attn.k_proj.weight", {kHidden / 2, kHidden});
    tensors.product(at + "self_attn.v_proj.weight", {kHidden / 2, kHidden});
    tensors.product(at + "self_attn.o_proj.weight", {kHidden, kHidden});
    auto mlp = [&](const std::string &name, int64_t inner) {
      tensors.product(at + name + "gate_proj.weight", {inner, kHidden});
      tensors.product(at + name + "up_proj.weight", {inner, kHidden});
      tensors.product(at + name + "down_proj.weight", {kHidden, inner});
    };
    if (layer == 1) {
      mlp("mlp.", 128);
      continue;
    }
    tensors.product(at + "mlp.gate.weight", {kExperts, kHidden});
    tensors.product(at + "mlp.shared_expert_gate.weight", {1, kHidden});
    mlp("mlp.shared_expert.", kShared);
    tensors.product(at + "mlp.experts.gate_up_proj",
                    {kExperts, 2 * kInner, kHidden});
    tensors.product(at + "mlp.experts.down_proj", {kExperts, kHidden, kInner});
  }
  tensors.write(folder.file("model.safetensors"));
}

std::vector<int64_t> someTokens(int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int64_t> tokens;
  for (int64_t i = 0; i < count; ++i) {
    tokens.push_back(int64_t(random() % kVocabulary));
  }
  return tokens;
}

class ExpertsTest : public testing::TestWithParam<const char *> {
protected:
  /// Compiled once for all tests of a format.
  static std::string engine() {
    static test::TemporaryDirectory folder;
    static bool written = (writeExpertModel(folder), true);
    EXPECT_TRUE(written);
    return engineFor(folder.path(), {"--quantize", GetParam(), "--isa",
                                     std::string(bestIsaOfCpu())});
  }
};

TEST_P(ExpertsTest, SameBitsHoweverCut) {
  expectSameHoweverCut(engine(), someTokens(150, 1), {});
}

TEST_P(ExpertsTest, SameBitsInACrowd) {
  std::string path = engine();
  Request request = toy::makeRequest(someTokens(40, 2), 20);
  auto resultIn = [&](int others, EngineOptions options) {
    auto loaded = load(path, options);
    for (int i = 0; i < others; ++i) {
      EXPECT_TRUE(loaded
                      ->submit(toy::makeRequest(
                          someTokens(3 + 7 * i, 100 + uint64_t(i)), 8 + i))
                      .ok());
    }
    auto id = loaded->submit(request);
    EXPECT_TRUE(id.ok()) << id.status();
    return toy::runDry(*loaded)[{*id, 0}];
  };
  toy::Result alone = resultIn(0, {.threads = 1});
  ASSERT_EQ(alone.tokens.size(), 20u);
  for (int threads : {1, 2}) {
    for (int64_t rows : {int64_t(7), int64_t(512)}) {
      EXPECT_EQ(resultIn(12, {.threads = threads, .maxBatchTokens = rows}),
                alone)
          << threads << " threads, " << rows << " rows";
    }
  }
  // Too small a cache for all: requests are put off and computed again.
  EXPECT_EQ(resultIn(12, {.threads = 2, .cacheTokens = 240}), alone);
}

INSTANTIATE_TEST_SUITE_P(Formats, ExpertsTest,
                         testing::Values("keep", "bf16", "int8", "int4a"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

using ExpertBytesTest = ExpertsTest;
TEST_P(ExpertBytesTest, ARowReadsItsExpertsAndTheRest) {
  auto loaded = load(engine());
  ASSERT_NE(loaded, nullptr);
  const manifest::Manifest &manifest = loaded->engineDirectory()->manifest();
  int64_t all = 0, stacks = 0;
  for (const manifest::WeightEntry &entry : manifest.weights().entries()) {
    (entry.matrices() != 0 ? stacks : all) += entry.bytes();
    if (entry.matrices() != 0) {
      EXPECT_EQ(entry.matrices(), kExperts) << entry.name();
      EXPECT_EQ(entry.matrices_per_row(), kTop) << entry.name();
    }
  }
  // int8: 64 x 32 bytes and a scale a row, by whole supertiles of 64 rows.
  auto matrix = [](int64_t rows, int64_t inputs) {
    return (rows + 63) / 64 * (64 * inputs + 256);
  };
  int64_t oneExpert = 2 * matrix(kInner, kHidden) + matrix(kHidden, kInner);
  EXPECT_EQ(stacks, 2 * kExperts * oneExpert);
  int64_t read = 0; // of one layer with experts, by its launches
  for (const manifest::Launch &launch : manifest.programs(0).launches()) {
    if (launch.kernel().find("expert_") != std::string::npos) {
      read += launch.bytes();
    }
  }
  EXPECT_EQ(read, kTop * oneExpert);
}
INSTANTIATE_TEST_SUITE_P(Formats, ExpertBytesTest, testing::Values("int8"));

// Qwen3-30B-A3B, from its configuration alone.
TEST(ExpertPlanTest, ATokenReadsAndMultipliesWhatTheHandCalculationSays) {
  test::TemporaryDirectory folder;
  std::string config = folder.write("config.json", R"({
    "architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe",
    "head_dim": 128, "hidden_size": 2048, "intermediate_size": 6144,
    "max_position_embeddings": 40960, "moe_intermediate_size": 768,
    "norm_topk_prob": true, "num_attention_heads": 32, "num_experts": 128,
    "num_experts_per_tok": 8, "num_hidden_layers": 48,
    "num_key_value_heads": 4, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0,
    "tie_word_embeddings": false, "vocab_size": 151936})");
  Outcome outcome = runProgram({kCompiler, config, "--no-weights"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  int64_t attention = 2048 * (4096 + 2 * 512) + 4096 * 2048;
  int64_t experts = 128 * 2048 + 8 * 3 * 2048 * 768;
  int64_t values = 48 * (attention + experts) + 151936 * 2048;
  int64_t norms = 48 * (2 * 2048 + 2 * 128) + 2048;
  std::string text = outcome.output + outcome.errors;
  EXPECT_NE(text.find(std::to_string(values) + " multiply-adds"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(std::to_string(2 * values + 4 * norms)),
            std::string::npos)
      << text;
}

} // namespace
} // namespace quire::e2e
