// Mixtures of experts in config.json: which layers have them, how they are
// chosen, and what contradicts itself.

#include "frontends/huggingface/ExpertFields.h"

#include "frontends/huggingface/Config.h"
#include "tests/frontends/huggingface/SmallConfig.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace quire {
namespace {

using huggingface::ExpertRule;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

ModelConfig read(const char *className, json fields) {
  fields.emplace("num_key_value_heads", 2);
  auto model = readHuggingFaceConfig(test::smallConfig(className, fields));
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *model : ModelConfig();
}

std::vector<bool> expertLayers(const ModelConfig &model) {
  std::vector<bool> result;
  for (const LayerConfig &layer : model.layers) {
    result.push_back(layer.experts);
  }
  return result;
}

/// What one rule makes of some fields of a model with four layers.
struct Outcome {
  ModelConfig model;
  absl::Status status;
};
Outcome readRule(ExpertRule rule, const json &fields) {
  huggingface::Reader reader(fields);
  Outcome outcome;
  outcome.model.layers.resize(4);
  huggingface::readExperts(reader, rule, outcome.model);
  outcome.status = reader.status;
  return outcome;
}

TEST(ExpertFields, MixtralHasExpertsEverywhereAndNormalises) {
  ModelConfig model = read("MixtralForCausalLM", {{"num_local_experts", 6}});
  EXPECT_THAT(expertLayers(model), ElementsAre(true, true, true, true));
  EXPECT_EQ(model.experts.count, 6);
  EXPECT_EQ(model.experts.top, 2);
  EXPECT_EQ(model.experts.intermediate, 96);
  EXPECT_TRUE(model.experts.normalise);
  EXPECT_EQ(model.ropes[0].base, 1e6);
  EXPECT_EQ(model.layers[0].window, 0);
}

TEST(ExpertFields, QwenCountsLayersFromOne) {
  ModelConfig model = read("Qwen2MoeForCausalLM", {{"num_experts", 8},
                                                   {"decoder_sparse_step", 2},
                                                   {"mlp_only_layers", {3}},
                                                   {"qkv_bias", false}});
  EXPECT_THAT(expertLayers(model), ElementsAre(false, true, false, false));
  EXPECT_TRUE(model.experts.sharedGate);
  EXPECT_EQ(model.experts.sharedIntermediate, 5632);
  EXPECT_FALSE(model.experts.normalise);
  EXPECT_FALSE(model.queryKeyValueBias);
  model = read("Qwen3MoeForCausalLM", {{"norm_topk_prob", true}});
  EXPECT_EQ(model.experts.count, 128);
  EXPECT_EQ(model.experts.sharedIntermediate, 0);
  EXPECT_TRUE(model.experts.normalise);
}

TEST(ExpertFields, DeepSeekV2RanksGroupsByTheirBest) {
  auto [model, status] =
      readRule(ExpertRule::DeepSeekV2, {{"n_routed_experts", 160},
                                        {"num_experts_per_tok", 6},
                                        {"topk_method", "group_limited_greedy"},
                                        {"n_group", 8},
                                        {"topk_group", 3},
                                        {"routed_scaling_factor", 16.0},
                                        {"n_shared_experts", 2},
                                        {"moe_intermediate_size", 1536},
                                        {"first_k_dense_replace", 1}});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(expertLayers(model), ElementsAre(false, true, true, true));
  EXPECT_EQ(model.experts.gate, RouterGate::Softmax);
  EXPECT_EQ(model.experts.groupScore, GroupScore::Max);
  EXPECT_EQ(model.experts.groups, 8);
  EXPECT_EQ(model.experts.topGroups, 3);
  EXPECT_EQ(model.experts.scale, 16);
  EXPECT_EQ(model.experts.sharedIntermediate, 3072);
  EXPECT_FALSE(model.experts.sharedGate);
}

TEST(ExpertFields, GreedyIgnoresGroups) {
  auto [model, status] =
      readRule(ExpertRule::DeepSeekV2, {{"num_experts_per_tok", 6},
                                        {"topk_method", "greedy"},
                                        {"n_group", 8},
                                        {"topk_group", 3}});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(model.experts.groups, 1);
}

TEST(ExpertFields, DeepSeekV3CorrectsSigmoidScores) {
  auto [model, status] =
      readRule(ExpertRule::DeepSeekV3,
               {{"topk_method", "noaux_tc"}, {"scoring_func", "sigmoid"}});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(expertLayers(model), ElementsAre(false, false, false, true));
  EXPECT_EQ(model.experts.count, 256);
  EXPECT_EQ(model.experts.gate, RouterGate::Sigmoid);
  EXPECT_EQ(model.experts.groupScore, GroupScore::TopTwo);
  EXPECT_TRUE(model.experts.correctionBias);
  EXPECT_TRUE(model.experts.normalise);
  EXPECT_EQ(model.experts.scale, 2.5);
  EXPECT_EQ(model.draftLayers, 1);
}

struct Refusal {
  const char *name;
  ExpertRule rule;
  json fields;
  const char *says;
};

class RefusedExperts : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedExperts, ByName) {
  absl::Status status = readRule(GetParam().rule, GetParam().fields).status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedExperts,
    testing::Values(
        Refusal{
            "None", ExpertRule::Qwen3, {{"num_experts", 0}}, "has 0 experts"},
        Refusal{"TooMany",
                ExpertRule::Qwen3,
                {{"num_experts", 1 << 20}},
                "1 to 4096"},
        Refusal{"TopAboveAll",
                ExpertRule::Qwen3,
                {{"num_experts", 4}, {"num_experts_per_tok", 5}},
                "chooses 5 of 4 experts"},
        Refusal{"TopOfNone",
                ExpertRule::Qwen3,
                {{"num_experts_per_tok", 0}},
                "chooses 0 of 128"},
        Refusal{"NoWidth",
                ExpertRule::Qwen3,
                {{"moe_intermediate_size", 0}},
                "intermediate size of 0"},
        Refusal{"SparseStep",
                ExpertRule::Qwen2,
                {{"decoder_sparse_step", 0}},
                "decoder_sparse_step"},
        Refusal{"DenseList",
                ExpertRule::Qwen2,
                {{"mlp_only_layers", {"a"}}},
                "mlp_only_layers"},
        Refusal{"MoreGroupsThanExperts",
                ExpertRule::DeepSeekV3,
                {{"n_group", 512}},
                "512 groups of 256 experts"},
        Refusal{"UnevenGroups",
                ExpertRule::DeepSeekV3,
                {{"n_group", 7}},
                "must divide the experts evenly"},
        Refusal{"MoreTopGroups",
                ExpertRule::DeepSeekV3,
                {{"topk_group", 9}},
                "the best 9 of 8 groups"},
        Refusal{"TopAboveGroups",
                ExpertRule::DeepSeekV3,
                {{"n_group", 128}, {"topk_group", 2}},
                "chooses 8 experts for a token where the best 2 groups hold 4"},
        Refusal{"GroupsOfOne",
                ExpertRule::DeepSeekV3,
                {{"n_group", 256}, {"topk_group", 16}},
                "each has one"},
        Refusal{"Method",
                ExpertRule::DeepSeekV2,
                {{"topk_method", "random"}},
                "'topk_method'"},
        Refusal{"MethodOfAnother",
                ExpertRule::DeepSeekV2,
                {{"topk_method", "noaux_tc"}},
                "'group_limited_greedy'"},
        Refusal{"Scoring",
                ExpertRule::DeepSeekV3,
                {{"scoring_func", "tanh"}},
                "'scoring_func'"},
        Refusal{"NormInV2",
                ExpertRule::DeepSeekV2,
                {{"norm_topk_prob", true}},
                "'norm_topk_prob'"},
        Refusal{"LayerFrequency",
                ExpertRule::DeepSeekV2,
                {{"moe_layer_freq", 0}},
                "'moe_layer_freq'"}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace quire
