// GGUF metadata: what an architecture fixes, and what is refused.

#include "frontends/gguf/Config.h"

#include "frontends/formats/Checkpoint.h"
#include "tests/frontends/TinyWeights.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

namespace quire {
namespace {

using test::TinyWeights;
using testing::HasSubstr;

absl::StatusOr<ModelConfig> readFrom(test::GgufWriter writer) {
  test::TemporaryDirectory directory;
  TinyWeights(false).addTo(writer, false);
  writer.write(directory.file("model.gguf"));
  auto checkpoint = openCheckpoint(directory.file("model.gguf"));
  return checkpoint.ok() ? readGgufConfig(**checkpoint) : checkpoint.status();
}

std::string errorOf(const test::GgufWriter &writer) {
  auto model = readFrom(writer);
  return model.ok() ? "no error" : std::string(model.status().message());
}

TEST(GgufConfig, ReadsShapeAndDefaults) {
  auto model = readFrom(TinyWeights::ggufHead("llama"));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->vocabulary, 64);
  EXPECT_EQ(model->headDim, 8);
  EXPECT_EQ(model->kvHeads, 2);
  EXPECT_EQ(model->maxContext, 64);
  EXPECT_EQ(model->ropes[0].base, 10000);
  EXPECT_TRUE(model->permutedRotary);
  EXPECT_FALSE(model->tiedHead);
  EXPECT_FALSE(readFrom(TinyWeights::ggufHead("qwen2"))->permutedRotary);
}

// The converter has added Gemma's 1 to the norms already.
TEST(GgufConfig, GemmaScalesEmbeddingsAndKeepsNorms) {
  auto writer = TinyWeights::ggufHead("gemma3");
  writer.u32("gemma3.attention.sliding_window", 16)
      .f32("gemma3.rope.freq_base", 1e6f)
      .string("gemma3.rope.scaling.type", "linear")
      .f32("gemma3.rope.scaling.factor", 8);
  auto model = readFrom(writer);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_FALSE(model->normWeightsMinusOne);
  EXPECT_FLOAT_EQ(float(model->embeddingScale), std::sqrt(32.0f));
  EXPECT_EQ(model->ropes[0].factor, 8);
  EXPECT_EQ(model->ropes[1].base, 10000);
  EXPECT_EQ(model->ropes[1].kind, RopeKind::Default);
  EXPECT_EQ(model->layers[0].window, 16);
}

TEST(GgufConfig, YarnAmplitudeMultiplies) {
  auto writer = TinyWeights::ggufHead("qwen2");
  writer.string("qwen2.rope.scaling.type", "yarn")
      .f32("qwen2.rope.scaling.factor", 4)
      .f32("qwen2.rope.scaling.attn_factor", 0.5f)
      .u32("qwen2.rope.scaling.original_context_length", 16);
  auto model = readFrom(writer);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_NEAR(*model->ropes[0].attentionFactor, 0.5 * 1.138629, 1e-6);
}

TEST(GgufConfig, LongRopeComesWithItsTensors) {
  auto writer = TinyWeights::ggufHead("phi3");
  writer.u32("phi3.rope.scaling.original_context_length", 16)
      .string("phi3.rope.scaling.type", "longrope");
  EXPECT_THAT(errorOf(writer), HasSubstr("rope_factors_long.weight"));
  std::vector<float> factors(4, 2.0f);
  std::string_view bytes(reinterpret_cast<const char *>(factors.data()), 16);
  writer.tensor("rope_factors_long.weight", NumberFormat::F32, {4}, bytes)
      .tensor("rope_factors_short.weight", NumberFormat::F32, {4}, bytes);
  auto model = readFrom(writer);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->ropes[0].kind, RopeKind::LongRope);
  EXPECT_EQ(model->ropes[0].factor, 4);
}

TEST(GgufConfig, RefusesByName) {
  EXPECT_THAT(errorOf(TinyWeights::ggufHead("bloom")),
              HasSubstr("GGUF architecture 'bloom' is not supported"));
  EXPECT_THAT(
      errorOf(TinyWeights::ggufHead("llama").u32("llama.expert_count", 8)),
      HasSubstr("'llama.expert_count'"));
  EXPECT_THAT(errorOf(TinyWeights::ggufHead("llama").u32(
                  "llama.attention.value_length", 4)),
              HasSubstr("must be equal"));
  EXPECT_THAT(errorOf(TinyWeights::ggufHead("llama").u32(
                  "llama.rope.dimension_count", 4)),
              HasSubstr("'llama.rope.dimension_count' is 4"));
  EXPECT_THAT(errorOf(TinyWeights::ggufHead("llama").string(
                  "llama.rope.scaling.type", "su")),
              HasSubstr("rope scaling 'su'"));
  EXPECT_THAT(
      errorOf(test::GgufWriter().string("general.architecture", "llama")),
      HasSubstr("lacks 'llama."));
}

TEST(GgufConfig, ReadsExperts) {
  auto writer = TinyWeights::ggufHead("qwen2moe");
  std::vector<float> values(16 * 32, 0.5f);
  std::string_view bytes(reinterpret_cast<const char *>(values.data()),
                         values.size() * 4);
  writer.u32("qwen2moe.expert_count", 16)
      .u32("qwen2moe.expert_used_count", 4)
      .u32("qwen2moe.expert_feed_forward_length", 24)
      .tensor("blk.1.ffn_gate_inp.weight", NumberFormat::F32, {16, 32}, bytes)
      .tensor("blk.1.ffn_gate_shexp.weight", NumberFormat::F32, {16, 32},
              bytes);
  auto model = readFrom(writer);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_FALSE(model->layers[0].experts);
  EXPECT_TRUE(model->layers[1].experts);
  EXPECT_EQ(model->experts.count, 16);
  EXPECT_EQ(model->experts.top, 4);
  EXPECT_EQ(model->experts.intermediate, 24);
  EXPECT_EQ(model->experts.sharedIntermediate, 16);
  EXPECT_TRUE(model->experts.sharedGate);
  EXPECT_FALSE(model->experts.normalise);
  writer.u32("qwen2moe.expert_gating_func", 3);
  EXPECT_THAT(errorOf(writer), HasSubstr("expert_gating_func' is 3"));
}

TEST(GgufConfig, InertFieldsAreNoneOfOurBusiness) {
  EXPECT_EQ(
      errorOf(TinyWeights::ggufHead("llama").u32("llama.expert_count", 0)),
      "no error");
}

} // namespace
} // namespace quire
