// config.json: defaults of fields that are absent, every spelling of the rope,
// and one clear sentence for each thing that is refused.

#include "frontends/huggingface/Config.h"

#include "frontends/formats/Json.h"

#include "nlohmann/json.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

namespace quire {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json llama(json fields = json::object()) {
  json config = {{"architectures", {"LlamaForCausalLM"}},
                 {"vocab_size", 512},
                 {"hidden_size", 64},
                 {"intermediate_size", 96},
                 {"num_hidden_layers", 2},
                 {"num_attention_heads", 4},
                 {"max_position_embeddings", 256}};
  config.update(fields);
  return config;
}

json of(const char *className, json fields = json::object()) {
  json config = llama(std::move(fields));
  config["architectures"] = {className};
  return config;
}

ModelConfig read(const json &config) {
  auto model = readHuggingFaceConfig(config);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *model : ModelConfig();
}

std::string errorOf(const json &config) {
  auto model = readHuggingFaceConfig(config);
  return model.ok() ? "no error" : std::string(model.status().message());
}

TEST(HuggingFaceConfig, AbsentFieldsTakeTransformersDefaults) {
  ModelConfig model = read(llama());
  EXPECT_EQ(model.kvHeads, 4);
  EXPECT_EQ(model.headDim, 16);
  EXPECT_EQ(model.normEpsilon, 1e-6);
  EXPECT_EQ(model.ropes.at(0).base, 10000);
  EXPECT_EQ(model.ropes.at(0).rotaryDim, 16);
  EXPECT_FALSE(model.tiedHead);
  EXPECT_EQ(model.attentionScale, 0.25);
  EXPECT_EQ(model.layers.at(1).window, 0);
}

TEST(HuggingFaceConfig, NullMeansTheFieldIsDerived) {
  ModelConfig model = read(llama({{"head_dim", nullptr},
                                  {"num_key_value_heads", nullptr},
                                  {"rope_scaling", nullptr}}));
  EXPECT_EQ(model.headDim, 16);
  EXPECT_EQ(model.kvHeads, 4);
}

// Absent and null are different things here.
TEST(HuggingFaceConfig, MistralSlidesUnlessItsWindowIsNull) {
  json heads = {{"num_attention_heads", 8}, {"num_key_value_heads", 8}};
  EXPECT_EQ(read(of("MistralForCausalLM", heads)).layers[0].window, 4096);
  heads["sliding_window"] = nullptr;
  EXPECT_EQ(read(of("MistralForCausalLM", heads)).layers[0].window, 0);
  heads["sliding_window"] = 32;
  EXPECT_EQ(read(of("MistralForCausalLM", heads)).layers[1].window, 32);
}

TEST(HuggingFaceConfig, QwenSlidesFromItsLayerIfAskedTo) {
  json fields = {{"num_key_value_heads", 2},
                 {"sliding_window", 32},
                 {"max_window_layers", 1}};
  ModelConfig off = read(of("Qwen2ForCausalLM", fields));
  EXPECT_EQ(off.layers[1].window, 0);
  EXPECT_TRUE(off.queryKeyValueBias);
  EXPECT_FALSE(off.attentionOutputBias);
  fields["use_sliding_window"] = true;
  ModelConfig on = read(of("Qwen2ForCausalLM", fields));
  EXPECT_EQ(on.layers[0].window, 0);
  EXPECT_EQ(on.layers[1].window, 32);
}

TEST(HuggingFaceConfig, Gemma2CapsUnlessNull) {
  json fields = {{"head_dim", 16}, {"num_key_value_heads", 2}};
  ModelConfig model = read(of("Gemma2ForCausalLM", fields));
  EXPECT_EQ(model.attentionSoftcap, 50);
  EXPECT_EQ(model.logitSoftcap, 30);
  EXPECT_EQ(model.embeddingScale, 8);
  EXPECT_EQ(model.attentionScale, 1.0 / 16); // query_pre_attn_scalar 256
  EXPECT_TRUE(model.tiedHead);
  EXPECT_EQ(model.layers[0].window, 4096);
  EXPECT_EQ(model.layers[1].window, 0);
  fields["attn_logit_softcapping"] = nullptr;
  EXPECT_EQ(read(of("Gemma2ForCausalLM", fields)).attentionSoftcap, 0);
}

TEST(HuggingFaceConfig, Gemma3HasTwoRopes) {
  ModelConfig model =
      read(of("Gemma3ForCausalLM",
              {{"head_dim", 16},
               {"num_key_value_heads", 2},
               {"num_hidden_layers", 7},
               {"rope_scaling", {{"rope_type", "linear"}, {"factor", 8.0}}}}));
  ASSERT_EQ(model.ropes.size(), 2u);
  EXPECT_EQ(model.ropes[0].base, 1e6);
  EXPECT_EQ(model.ropes[0].factor, 8);
  EXPECT_EQ(model.ropes[1].base, 1e4);
  EXPECT_EQ(model.ropes[1].kind, RopeKind::Default);
  EXPECT_EQ(model.layers[4].rope, 1);
  EXPECT_EQ(model.layers[5].rope, 0); // the sixth sees everything
  EXPECT_EQ(model.layers[5].window, 0);
}

TEST(HuggingFaceConfig, GraniteScalesFourThings) {
  ModelConfig model =
      read(of("GraniteForCausalLM", {{"embedding_multiplier", 12.0},
                                     {"residual_multiplier", 0.22},
                                     {"attention_multiplier", 0.0625},
                                     {"logits_scaling", 8.0}}));
  EXPECT_EQ(model.embeddingScale, 12);
  EXPECT_EQ(model.residualScale, 0.22);
  EXPECT_EQ(model.attentionScale, 0.0625);
  EXPECT_EQ(model.logitScale, 0.125);
}

// Rope: three places, two names of the kind.

struct Spelling {
  const char *name;
  json fields;
};

class RopeSpelling : public testing::TestWithParam<Spelling> {};

TEST_P(RopeSpelling, SaysLinearByTwoOnBaseFiveThousand) {
  const RopeConfig rope = read(llama(GetParam().fields)).ropes.at(0);
  EXPECT_EQ(rope.kind, RopeKind::Linear);
  EXPECT_EQ(rope.factor, 2);
  EXPECT_EQ(rope.base, 5000);
}

INSTANTIATE_TEST_SUITE_P(
    All, RopeSpelling,
    testing::Values(
        Spelling{"type",
                 {{"rope_theta", 5000},
                  {"rope_scaling", {{"type", "linear"}, {"factor", 2}}}}},
        Spelling{"rope_type",
                 {{"rope_theta", 5000.0},
                  {"rope_scaling", {{"rope_type", "linear"}, {"factor", 2}}}}},
        Spelling{
            "parameters",
            {{"rope_parameters",
              {{"rope_type", "linear"}, {"factor", 2}, {"rope_theta", 5000}}}}},
        Spelling{"nested",
                 {{"rope_parameters",
                   {{"full_attention",
                     {{"rope_type", "linear"},
                      {"factor", 2},
                      {"rope_theta", 5000}}}}}}}),
    [](const auto &info) { return std::string(info.param.name); });

TEST(HuggingFaceConfig, ReadsLlama3Scaling) {
  RopeConfig rope = read(llama({{"rope_theta", 500000.0},
                                {"rope_scaling",
                                 {{"rope_type", "llama3"},
                                  {"factor", 8.0},
                                  {"low_freq_factor", 1.0},
                                  {"high_freq_factor", 4.0},
                                  {"original_max_position_embeddings", 64}}}}))
                        .ropes[0];
  EXPECT_EQ(rope.kind, RopeKind::Llama3);
  EXPECT_EQ(rope.originalContext, 64);
  EXPECT_EQ(rope.highFrequencyFactor, 4);
}

TEST(HuggingFaceConfig, YarnTakesItsFactorFromTheLengths) {
  RopeConfig rope = read(llama({{"rope_scaling",
                                 {{"rope_type", "yarn"},
                                  {"factor", nullptr},
                                  {"beta_fast", 0},
                                  {"original_max_position_embeddings", 64}}}}))
                        .ropes[0];
  EXPECT_EQ(rope.factor, 4);
  EXPECT_EQ(rope.betaFast, 32);
}

TEST(HuggingFaceConfig, PartialRotaryCountsOfTheHead) {
  EXPECT_EQ(read(llama({{"partial_rotary_factor", 0.5}})).ropes[0].rotaryDim,
            8);
}

// Refusals.

struct Refusal {
  const char *name;
  json config;
  const char *says;
};

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, InOneSentenceThatNamesIt) {
  std::string error = errorOf(GetParam().config);
  EXPECT_THAT(error, HasSubstr(GetParam().says));
  EXPECT_EQ(error.find('\n'), std::string::npos);
  EXPECT_LT(error.size(), 500u);
}

json without(json config, const char *field) {
  config.erase(field);
  return config;
}

INSTANTIATE_TEST_SUITE_P(
    All, Refused,
    testing::Values(
        Refusal{"NoArchitecture", without(llama(), "architectures"),
                "architectures"},
        Refusal{"UnknownArchitecture", of("BloomForCausalLM"),
                "'BloomForCausalLM' is not supported; known are LlamaFor"},
        Refusal{"Wrapper", of("Gemma3ForConditionalGeneration"),
                "takes the text model alone"},
        Refusal{"UnknownField", llama({{"use_alibi", true}}), "'use_alibi'"},
        Refusal{"Quantised",
                llama({{"quantization_config", {{"quant_method", "gptq"}}}}),
                "'gptq'"},
        Refusal{"InterleavedRope", llama({{"rope_interleaved", true}}),
                "'rope_interleaved'"},
        Refusal{"Mrope",
                of("Qwen2ForCausalLM",
                   {{"num_key_value_heads", 2},
                    {"rope_scaling",
                     {{"type", "mrope"}, {"mrope_section", {2, 3, 3}}}}}),
                "mrope"},
        Refusal{"UseMrope",
                of("Qwen2ForCausalLM",
                   {{"num_key_value_heads", 2}, {"use_mrope", true}}),
                "'use_mrope'"},
        Refusal{"NoVocabulary", without(llama(), "vocab_size"), "vocab_size"},
        Refusal{"ZeroHeads", llama({{"num_attention_heads", 0}}),
                "num_attention_heads"},
        Refusal{"NegativeLayers", llama({{"num_hidden_layers", -1}}),
                "num_hidden_layers"},
        Refusal{"AbsurdLayers", llama({{"num_hidden_layers", 1000000}}),
                "at most 4096"},
        Refusal{"AbsurdVocabulary", llama({{"vocab_size", 1e15}}),
                "vocab_size"},
        Refusal{
            "AbsurdHead",
            llama({{"head_dim", 1 << 23}, {"num_attention_heads", 1 << 10}}),
            "out of range"},
        Refusal{"TextForNumber", llama({{"hidden_size", "64"}}), "hidden_size"},
        Refusal{"HeadsThatDoNotDivide", llama({{"num_key_value_heads", 3}}),
                "must be a multiple of num_key_value_heads (3)"},
        Refusal{"HeadsThatDoNotFill", llama({{"hidden_size", 66}}),
                "must be a multiple of num_attention_heads (4)"},
        Refusal{"ZeroKeyValueHeads", llama({{"num_key_value_heads", 0}}),
                "num_key_value_heads (0)"},
        Refusal{"ZeroContext", llama({{"max_position_embeddings", 0}}),
                "max_position_embeddings"},
        Refusal{"NegativeWindow",
                of("Phi3ForCausalLM", {{"sliding_window", -4}}),
                "sliding_window"},
        Refusal{"LayerTypesTooFew",
                of("Qwen2ForCausalLM", {{"num_key_value_heads", 2},
                                        {"layer_types", {"full_attention"}}}),
                "'layer_types' of config.json has 1 entries for 2 layers"},
        Refusal{"LayerTypeUnknown",
                of("Qwen2ForCausalLM",
                   {{"num_key_value_heads", 2},
                    {"layer_types", {"full_attention", "linear_attention"}}}),
                "linear_attention"},
        Refusal{"Activation", llama({{"hidden_act", "relu"}}), "'relu'"},
        Refusal{"RopeField",
                llama({{"rope_scaling",
                        {{"type", "linear"}, {"factor", 2}, {"warp", 1}}}}),
                "'warp'"},
        Refusal{"RotaryShare", llama({{"partial_rotary_factor", 1.5}}),
                "partial_rotary_factor"},
        Refusal{
            "Bidirectional",
            of("Gemma3ForCausalLM", {{"num_key_value_heads", 2},
                                     {"use_bidirectional_attention", true}}),
            "bidirectional"},
        Refusal{"LogitsScaling",
                of("GraniteForCausalLM", {{"logits_scaling", 0}}),
                "logits_scaling"}),
    [](const auto &info) { return std::string(info.param.name); });

TEST(HuggingFaceConfig, ArrayIsNoConfig) {
  EXPECT_FALSE(readHuggingFaceConfig(json::array()).ok());
}

} // namespace
} // namespace quire
