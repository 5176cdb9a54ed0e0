// Latent attention in config.json: what is read, what follows from it, and what
// contradicts itself.

#include "frontends/huggingface/LatentFields.h"

#include "frontends/huggingface/Config.h"
#include "tests/frontends/huggingface/SmallConfig.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

namespace quire {
namespace {

using nlohmann::json;
using testing::HasSubstr;

absl::StatusOr<ModelConfig> tryRead(const char *className, json fields) {
  fields.emplace("num_key_value_heads", 4);
  fields.emplace("num_experts_per_tok", 2);
  return readHuggingFaceConfig(test::smallConfig(className, fields));
}

ModelConfig read(const char *className, json fields) {
  auto model = tryRead(className, std::move(fields));
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *model : ModelConfig();
}

std::string complaint(json fields) {
  auto model = tryRead("DeepseekV2ForCausalLM", std::move(fields));
  return std::string(model.status().message());
}

TEST(LatentFields, DeepSeekV2) {
  ModelConfig model = read("DeepseekV2ForCausalLM", {{"q_lora_rank", 24},
                                                     {"kv_lora_rank", 32},
                                                     {"qk_nope_head_dim", 16},
                                                     {"qk_rope_head_dim", 8},
                                                     {"v_head_dim", 12},
                                                     {"head_dim", 8},
                                                     {"qk_head_dim", 24}});
  EXPECT_EQ(model.latent.queryRank, 24);
  EXPECT_EQ(model.latent.rank, 32);
  EXPECT_EQ(model.headDim, 24);
  EXPECT_EQ(model.valueDim(), 12);
  EXPECT_EQ(model.ropes[0].rotaryDim, 8);
  EXPECT_TRUE(model.latent.interleaved);
  EXPECT_DOUBLE_EQ(model.attentionScale, 1 / std::sqrt(24.0));
}

TEST(LatentFields, NullQueryRankMeansOneProduct) {
  json absent = json::object();
  json null = {{"q_lora_rank", nullptr}};
  EXPECT_EQ(read("DeepseekV2ForCausalLM", absent).latent.queryRank, 1536);
  EXPECT_EQ(read("DeepseekV2ForCausalLM", null).latent.queryRank, 0);
}

TEST(LatentFields, MscaleAllDimIsInTheScaleOfScores) {
  ModelConfig model = read("DeepseekV3ForCausalLM",
                           {{"rope_scaling",
                             {{"type", "yarn"},
                              {"factor", 40},
                              {"mscale", 1.0},
                              {"mscale_all_dim", 1.0},
                              {"original_max_position_embeddings", 4096}}}});
  // DeepSeek-V3 by hand: 192^-0.5 * (0.1 ln 40 + 1)^2.
  EXPECT_NEAR(model.attentionScale, 0.0721688 * 1.3688879 * 1.3688879, 1e-6);
}

TEST(LatentFields, KimiIsDeepSeekV3) {
  ModelConfig model =
      read("DeepseekV3ForCausalLM",
           {{"model_type", "kimi_k2"}, {"n_group", 1}, {"topk_group", 1}});
  EXPECT_EQ(model.architecture, "kimi_k2");
  EXPECT_EQ(model.latent.rank, 512);
  auto other =
      tryRead("DeepseekV3ForCausalLM", {{"model_type", "deepseek_v2"}});
  EXPECT_THAT(std::string(other.status().message()),
              HasSubstr("do not belong together"));
}

TEST(LatentFields, MiniCpm3Scales) {
  ModelConfig model =
      read("MiniCPM3ForCausalLM",
           {{"dim_model_base", 16}, {"num_experts_per_tok", nullptr}});
  EXPECT_EQ(model.latent.valueDim, 16);
  EXPECT_FALSE(model.latent.interleaved);
  EXPECT_DOUBLE_EQ(model.embeddingScale, 12);
  EXPECT_DOUBLE_EQ(model.residualScale, 0.7);
  EXPECT_DOUBLE_EQ(model.logitScale, 0.25);
  // The latents' norms do not take the file's epsilon.
  EXPECT_DOUBLE_EQ(model.normEpsilon, 1e-5);
  EXPECT_DOUBLE_EQ(model.latent.normEpsilon, 1e-6);
}

TEST(LatentFields, ContradictionsAreRefusedByName) {
  EXPECT_THAT(complaint({{"kv_lora_rank", 0}}), HasSubstr("kv_lora_rank"));
  EXPECT_THAT(complaint({{"q_lora_rank", 0}}), HasSubstr("q_lora_rank"));
  EXPECT_THAT(complaint({{"qk_rope_head_dim", 7}}),
              HasSubstr("rotates 7 channels (qk_rope_head_dim)"));
  EXPECT_THAT(complaint({{"qk_rope_head_dim", 0}}),
              HasSubstr("qk_rope_head_dim"));
  EXPECT_THAT(complaint({{"qk_nope_head_dim", 0}}),
              HasSubstr("qk_nope_head_dim"));
  EXPECT_THAT(complaint({{"v_head_dim", 0}}), HasSubstr("v_head_dim"));
  EXPECT_THAT(complaint({{"qk_head_dim", 100}}), HasSubstr("qk_head_dim"));
  EXPECT_THAT(complaint({{"num_key_value_heads", 2}}),
              HasSubstr("num_key_value_heads"));
  EXPECT_THAT(complaint({{"partial_rotary_factor", 0.5}}),
              HasSubstr("partial_rotary_factor"));
}

} // namespace
} // namespace quire
