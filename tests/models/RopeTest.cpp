// Inverse frequencies and amplitudes of every rope scaling, against values
// worked out by hand.

#include "models/Rope.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

namespace quire {
namespace {

using testing::FloatNear;
using testing::HasSubstr;

std::vector<testing::Matcher<float>> near(std::vector<float> values) {
  std::vector<testing::Matcher<float>> result;
  for (float value : values) {
    result.push_back(FloatNear(value, 1e-5f * std::fabs(value)));
  }
  return result;
}

std::string errorOf(const RopeConfig &config, int64_t context = 64) {
  auto table = makeRopeTable(config, context);
  return table.ok() ? "" : std::string(table.status().message());
}

TEST(Rope, PlainFrequenciesFallFromOne) {
  auto table = makeRopeTable({.base = 10000, .rotaryDim = 8}, 64);
  ASSERT_TRUE(table.ok());
  EXPECT_THAT(table->inverseFrequency,
              testing::ElementsAreArray(near({1, 0.1f, 0.01f, 0.001f})));
  EXPECT_EQ(table->amplitude, 1);
  EXPECT_EQ(table->dynamicContext, 0);
}

// Of a head of 8 half rotates: frequencies follow the rotary width.
TEST(Rope, PartialWidthCountsRotaryChannelsOnly) {
  auto table = makeRopeTable({.base = 10000, .rotaryDim = 4}, 64);
  ASSERT_TRUE(table.ok());
  EXPECT_THAT(table->inverseFrequency,
              testing::ElementsAreArray(near({1, 0.01f})));
}

TEST(Rope, LinearDividesByFactor) {
  auto table = makeRopeTable(
      {.kind = RopeKind::Linear, .rotaryDim = 4, .factor = 4}, 64);
  ASSERT_TRUE(table.ok());
  EXPECT_THAT(table->inverseFrequency,
              testing::ElementsAreArray(near({0.25f, 0.0025f})));
}

TEST(Rope, Llama3BlendsMiddleWavelengths) {
  auto table = makeRopeTable({.kind = RopeKind::Llama3,
                              .base = 10000,
                              .rotaryDim = 16,
                              .factor = 8,
                              .originalContext = 512,
                              .lowFrequencyFactor = 1,
                              .highFrequencyFactor = 4},
                             700);
  ASSERT_TRUE(table.ok());
  EXPECT_THAT(
      table->inverseFrequency,
      testing::ElementsAreArray(near({1, 0.316228f, 0.1f, 0.0184967f, 0.00125f,
                                      3.95285e-4f, 1.25e-4f, 3.95285e-5f})));
}

RopeConfig yarn() {
  return {.kind = RopeKind::Yarn,
          .base = 10000,
          .rotaryDim = 16,
          .factor = 4,
          .originalContext = 32};
}

// The ramp of this model runs from pair 0 to pair 2: pair 1 is half of each.
TEST(Rope, YarnRampsBetweenKeptAndDivided) {
  auto table = makeRopeTable(yarn(), 128);
  ASSERT_TRUE(table.ok());
  EXPECT_THAT(std::vector(table->inverseFrequency.begin(),
                          table->inverseFrequency.begin() + 4),
              testing::ElementsAreArray(
                  near({1, 0.316228f * 0.625f, 0.025f, 0.00790569f})));
}

TEST(Rope, YarnAmplitudeFollowsFactorUnlessSet) {
  RopeConfig config = yarn();
  EXPECT_NEAR(makeRopeTable(config, 128)->amplitude, 1.138629, 1e-6);
  config.attentionFactor = 1.0;
  EXPECT_EQ(makeRopeTable(config, 128)->amplitude, 1.0);
  config.attentionFactor = 0.5;
  EXPECT_EQ(makeRopeTable(config, 128)->amplitude, 0.5);
}

TEST(Rope, YarnAmplitudeIsTheRatioOfBothMscales) {
  RopeConfig config = yarn();
  config.mscale = 0.8;
  EXPECT_NEAR(makeRopeTable(config, 128)->amplitude, 1.138629, 1e-6);
  config.mscaleAllDim = 0.5;
  double log4 = std::log(4.0);
  EXPECT_NEAR(makeRopeTable(config, 128)->amplitude,
              (0.08 * log4 + 1) / (0.05 * log4 + 1), 1e-9);
}

TEST(Rope, DynamicLeavesTheTableToTheRow) {
  auto table = makeRopeTable({.kind = RopeKind::Dynamic,
                              .base = 500,
                              .rotaryDim = 8,
                              .factor = 2,
                              .maxContext = 32},
                             64);
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->dynamicContext, 32);
  EXPECT_EQ(table->dynamicBase, 500);
  EXPECT_EQ(table->dynamicFactor, 2);
}

// Phi-3.5's figures: 128k from 4k.
TEST(Rope, LongRopePicksItsTableByTheContext) {
  RopeConfig config{.kind = RopeKind::LongRope,
                    .base = 10000,
                    .rotaryDim = 4,
                    .factor = 32,
                    .originalContext = 4096,
                    .maxContext = 131072,
                    .shortFactor = {1, 2},
                    .longFactor = {4, 8}};
  auto isShort = makeRopeTable(config, 4096);
  auto isLong = makeRopeTable(config, 4097);
  ASSERT_TRUE(isShort.ok() && isLong.ok());
  EXPECT_THAT(isShort->inverseFrequency,
              testing::ElementsAreArray(near({1, 0.005f})));
  EXPECT_THAT(isLong->inverseFrequency,
              testing::ElementsAreArray(near({0.25f, 0.00125f})));
  EXPECT_NEAR(isShort->amplitude, std::sqrt(1 + 5.0 / 12), 1e-9);
  config.attentionFactor = 1.25;
  EXPECT_EQ(makeRopeTable(config, 4096)->amplitude, 1.25);
}

// GGUF's rope_freqs must give the frequencies that the scaling gives.
TEST(Rope, DivisorsDivide) {
  auto table = makeRopeTable(
      {.base = 10000, .rotaryDim = 4, .frequencyDivisors = {1, 8}}, 64);
  ASSERT_TRUE(table.ok());
  EXPECT_THAT(table->inverseFrequency,
              testing::ElementsAreArray(near({1, 0.00125f})));
}

TEST(Rope, RefusesWhatMakesNoTable) {
  EXPECT_THAT(errorOf({.rotaryDim = 7}), HasSubstr("it must be even"));
  EXPECT_THAT(errorOf({.rotaryDim = 0}), HasSubstr("it must be even"));
  EXPECT_THAT(errorOf({.base = 0, .rotaryDim = 8}), HasSubstr("rope_theta"));
  EXPECT_THAT(errorOf({.kind = RopeKind::Linear, .rotaryDim = 8, .factor = -1}),
              HasSubstr("must be positive"));
  EXPECT_THAT(errorOf({.kind = RopeKind::Llama3, .rotaryDim = 8}),
              HasSubstr("original_max_position_embeddings"));
  EXPECT_THAT(errorOf({.rotaryDim = 8, .frequencyDivisors = {1}}),
              HasSubstr("1 entries"));
  EXPECT_THAT(errorOf({.rotaryDim = 4, .frequencyDivisors = {1, 0}}),
              HasSubstr("must be positive"));
  RopeConfig longRope{.kind = RopeKind::LongRope,
                      .rotaryDim = 4,
                      .originalContext = 32,
                      .maxContext = 64,
                      .shortFactor = {1, 1},
                      .longFactor = {1}};
  EXPECT_EQ(errorOf(longRope, 32), "");
  EXPECT_THAT(errorOf(longRope, 64), HasSubstr("long_factor"));
}

} // namespace
} // namespace quire
