// Reference functions against values worked out by hand or with the formulas
// of the papers they name.

#include "ir/reference/Attention.h"
#include "ir/reference/Elementwise.h"
#include "ir/reference/KvCache.h"
#include "ir/reference/Linear.h"
#include "ir/reference/Norm.h"
#include "ir/reference/Rope.h"
#include "ir/reference/Rounding.h"
#include "ir/reference/WeightTransforms.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

namespace quire::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::FloatNear;
using ::testing::Pointwise;

Rows oneRow(std::vector<float> values) {
  Rows rows(1, values.size());
  rows.values = std::move(values);
  return rows;
}

Weight vectorOf(std::vector<float> values) {
  return {{static_cast<int64_t>(values.size())}, values};
}

TEST(Elementwise, AddsMultipliesScalesAndCaps) {
  Rows a = oneRow({1, -2});
  Rows b = oneRow({3, 4});
  EXPECT_THAT(add(a, b).values, ElementsAre(4, 2));
  EXPECT_THAT(mul(a, b).values, ElementsAre(3, -8));
  EXPECT_THAT(scale(a, 0.5).values, ElementsAre(0.5, -1));
  // 30 * tanh(60 / 30)
  EXPECT_THAT(softcap(oneRow({60}), 30).values,
              ElementsAre(FloatNear(28.920828f, 1e-5)));
}

TEST(Elementwise, Nonlinearities) {
  EXPECT_NEAR(nonlinearity(Nonlinearity::Silu, 1.0f), 0.7310586f, 1e-6);
  EXPECT_NEAR(nonlinearity(Nonlinearity::Gelu, 1.0f), 0.8413447f, 1e-6);
  EXPECT_NEAR(nonlinearity(Nonlinearity::GeluTanh, 1.0f), 0.8411920f, 1e-6);
  EXPECT_EQ(nonlinearity(Nonlinearity::Silu, -1000.0f), 0.0f);
}

TEST(Norm, DividesByTheRootMeanSquareOfEachSection) {
  // Sections [3, 4] and [0, 2]: root mean squares sqrt(12.5) and sqrt(2).
  Rows out = rmsNorm(oneRow({3, 4, 0, 2}), vectorOf({1, 10}), 0);
  EXPECT_THAT(out.values, ElementsAre(FloatEq(3 / std::sqrt(12.5f)),
                                      FloatEq(40 / std::sqrt(12.5f)), 0.0f,
                                      FloatEq(20 / std::sqrt(2.0f))));
}

TEST(Norm, AddsEpsilonToTheMeanSquare) {
  Rows out = rmsNorm(oneRow({1, 1}), vectorOf({1, 1}), 3);
  EXPECT_THAT(out.values, ElementsAre(0.5f, 0.5f));
}

TEST(Linear, IsTheDotProductWithEachRowPlusBias) {
  Weight weight{{3, 2}, {1, 2, 3, 4, 5, 6}};
  Weight bias = vectorOf({10, 20, 30});
  Rows x = oneRow({1, -1});
  EXPECT_THAT(linear(x, weight, nullptr).values, ElementsAre(-1, -1, -1));
  EXPECT_THAT(linear(x, weight, &bias).values, ElementsAre(9, 19, 29));
}

TEST(Linear, GivesARowTheSameBitsAloneAndAmongOthers) {
  Weight weight{{5, 37}, std::vector<float>(5 * 37)};
  Rows many(11, 37);
  for (size_t i = 0; i < weight.values.size(); ++i) {
    weight.values[i] = std::sin(0.7f * i);
  }
  for (size_t i = 0; i < many.values.size(); ++i) {
    many.values[i] = std::cos(1.3f * i);
  }
  Rows all = linear(many, weight, nullptr);
  for (int64_t r = 0; r < many.rows; ++r) {
    Rows alone(1, 37);
    std::copy_n(many.row(r).begin(), 37, alone.values.begin());
    Rows out = linear(alone, weight, nullptr);
    EXPECT_TRUE(
        std::equal(out.values.begin(), out.values.end(), all.row(r).begin()));
  }
}

TEST(Linear, GatesWithTheNonlinearity) {
  Weight gate{{1, 1}, {2}};
  Weight up{{1, 1}, {3}};
  Rows out = gatedLinear(Nonlinearity::Silu, oneRow({0.5}), gate, up);
  EXPECT_THAT(out.values, ElementsAre(FloatNear(0.7310586f * 1.5f, 1e-6)));
}

/// cos and sin of one position for the given frequencies.
Rows tableAt(int32_t position, std::vector<float> frequency) {
  RopeTable table;
  table.inverseFrequency = frequency;
  return ropeTable(table, {&position, 1});
}

// ROPE-1
TEST(Rope, RotatesHalfSplitAndInterleavedPairs) {
  Rows table = tableAt(1, {1.0f, 0.01f});
  Rows x = oneRow({1, 2, 3, 4});
  EXPECT_THAT(
      rope(x, table, 4, false).values,
      Pointwise(FloatNear(1e-5), {-1.98411f, 1.95990f, 2.46238f, 4.01980f}));
  EXPECT_THAT(
      rope(x, table, 4, true).values,
      Pointwise(FloatNear(1e-5), {-1.14264f, 1.92208f, 2.95985f, 4.02980f}));
}

// ROPE-1: half-split on unpermuted rows is interleaved on the stored ones.
TEST(Rope, UnpermutingTurnsInterleavedIntoHalfSplit) {
  Weight stored = vectorOf({1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_THAT(unpermuteRotary(stored, 4).values,
              ElementsAre(1, 3, 2, 4, 5, 7, 6, 8));
  Rows table = tableAt(3, {1.0f, 0.01f});
  Rows interleaved = rope(oneRow(stored.values), table, 4, true);
  Rows halfSplit =
      rope(oneRow(unpermuteRotary(stored, 4).values), table, 4, false);
  EXPECT_EQ(unpermuteRotary(vectorOf(interleaved.values), 4).values,
            halfSplit.values);
}

// ROPE-2: the table holds what llama3 scaling gave; here that the reference
// uses it for far positions as for near ones.
TEST(Rope, TakesFrequenciesAsGiven) {
  std::vector<float> frequency = {1,        0.316228f,   0.1f,     0.0184967f,
                                  0.00125f, 3.95285e-4f, 1.25e-4f, 3.95285e-5f};
  Rows table = tableAt(700, frequency);
  for (size_t i = 0; i < frequency.size(); ++i) {
    EXPECT_FLOAT_EQ(table.values[i], std::cos(700.0f * frequency[i]));
    EXPECT_FLOAT_EQ(table.values[8 + i], std::sin(700.0f * frequency[i]));
  }
}

// ROPE-3: the amplitude multiplies the rotated part alone.
TEST(Rope, AmplitudeTouchesTheRotatedPartOnly) {
  std::vector<float> frequency = {1.0f};
  RopeTable table;
  table.inverseFrequency = frequency;
  table.amplitude = 2;
  int32_t position = 0;
  Rows out =
      rope(oneRow({1, 2, 3}), ropeTable(table, {&position, 1}), 3, false);
  EXPECT_THAT(out.values, ElementsAre(2, 4, 3));
}

// ROPE-4: rotary width 4 of a head of 8: pairs (0, 2) and (1, 3).
TEST(Rope, PartialRotaryLeavesTheRestAlone) {
  Rows table = tableAt(1, {1.0f, 0.01f});
  Rows out = rope(oneRow({1, 2, 3, 4, 5, 6, 7, 8}), table, 8, false);
  EXPECT_THAT(out.values,
              Pointwise(FloatNear(1e-5), {-1.98411f, 1.95990f, 2.46238f,
                                          4.01980f, 5.f, 6.f, 7.f, 8.f}));
}

TEST(Rope, DynamicScalingFollowsTheRowsOwnPosition) {
  std::vector<float> frequency = {1.0f, 0.01f};
  RopeTable table;
  table.inverseFrequency = frequency;
  table.dynamicContext = 8;
  table.dynamicBase = 10000;
  table.dynamicFactor = 2;
  int32_t positions[] = {7, 15};
  Rows out = ropeTable(table, positions);
  EXPECT_FLOAT_EQ(out.row(0)[1], std::cos(7 * 0.01f));
  // 16 tokens: base * (2 * 16 / 8 - 1)^(4 / 2) = 90000; 90000^-0.5 = 1/300.
  EXPECT_NEAR(out.row(1)[1], std::cos(15.0 / 300), 1e-6);
}

TEST(Attention, IsTheSoftmaxWeightedSumOfValues) {
  AttentionShape shape{.heads = 2, .kvHeads = 1, .keyDim = 1, .valueDim = 1};
  float query[] = {0, 1};
  float key[] = {0, std::log(3.0f)};
  float value[] = {10, 20};
  Visible visible{{&key[0], &key[1]}, {&value[0], &value[1]}};
  float out[2];
  attendRow(shape, query, visible, out);
  EXPECT_FLOAT_EQ(out[0], 15);   // equal scores
  EXPECT_FLOAT_EQ(out[1], 17.5); // weights 1/4 and 3/4
}

TEST(Attention, CapsScores) {
  AttentionShape shape{
      .heads = 1, .kvHeads = 1, .keyDim = 1, .valueDim = 1, .softcap = 1e-6};
  float query[] = {5};
  float key[] = {-3, 9};
  float value[] = {10, 20};
  Visible visible{{&key[0], &key[1]}, {&value[0], &value[1]}};
  float out[1];
  attendRow(shape, query, visible, out);
  EXPECT_NEAR(out[0], 15, 1e-4);
}

TEST(Attention, OfNothingIsZero) {
  AttentionShape shape{.heads = 1, .kvHeads = 1, .keyDim = 1, .valueDim = 2};
  float query[] = {5};
  float out[] = {1, 1};
  attendRow(shape, query, {}, out);
  EXPECT_THAT(out, ElementsAre(0, 0));
}

TEST(Rounding, ActivationsHaveAScalePerGroup) {
  Rows out = quantizeActivation(oneRow({127, 2.5, 3.5, -0.4f, 0, 0, 0, 0}), 4);
  // Scale 1, halves to even; a group of zeros stays zero.
  EXPECT_THAT(out.values, ElementsAre(127, 2, 4, 0, 0, 0, 0, 0));
}

TEST(Rounding, Int8HasAScalePerRow) {
  Weight weight{{2, 2}, {127, 1.4f, -254, 3}};
  Weight out = roundWeight(weight, NumberFormat::Int8Row);
  EXPECT_THAT(out.values, ElementsAre(127, 1, -254, 4));
}

TEST(Rounding, Int4IsSymmetricRoundMinusEight) {
  Weight weight{{1, 32}, std::vector<float>(32, 0.0f)};
  weight.values[0] = 16; // farthest: scale -2
  weight.values[1] = -16;
  weight.values[2] = 5; // -2.5 steps, to even -2
  Weight out = roundWeight(weight, NumberFormat::Int4Sym);
  EXPECT_FLOAT_EQ(out.values[0], 16);
  EXPECT_FLOAT_EQ(out.values[1], -14); // 7 steps is the most on this side
  EXPECT_FLOAT_EQ(out.values[2], 4);
  EXPECT_FLOAT_EQ(out.values[3], 0);
}

TEST(Rounding, Int4aSpansTheGroup) {
  Weight weight{{1, 32}, std::vector<float>(32, 2.0f)};
  weight.values[0] = -1;
  weight.values[1] = 29; // minimum -1, scale 2
  weight.values[2] = 4.9f;
  Weight out = roundWeight(weight, NumberFormat::Int4Asym);
  EXPECT_FLOAT_EQ(out.values[0], -1);
  EXPECT_FLOAT_EQ(out.values[1], 29);
  EXPECT_FLOAT_EQ(out.values[2], 5);
  EXPECT_FLOAT_EQ(out.values[3], 3); // 1.5 steps, to even 2
}

TEST(Rounding, CacheEntriesAreWhatTheFormatStores) {
  KvCache cache({.kvHeads = 1,
                 .keyDim = 1,
                 .valueDim = 1,
                 .format = NumberFormat::BF16,
                 .pageSize = 16,
                 .layers = 1});
  float value = 1.00390625f; // 1 + 2^-8: halfway, to even 1
  cache.store(0, 5, &value, &value);
  EXPECT_EQ(*cache.key(0, 5), 1.0f);
  EXPECT_EQ(cache.key(0, 4), nullptr);
  cache.copySlot(5, 9);
  EXPECT_EQ(*cache.value(0, 9), 1.0f);
}

TEST(Weights, AffineIsInF32) {
  EXPECT_THAT(affineWeight(vectorOf({1, 2}), 2, 1).values, ElementsAre(3, 5));
}

} // namespace
} // namespace quire::reference
