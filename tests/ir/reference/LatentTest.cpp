// Latent attention's functions and weight expressions against values worked
// out by hand.

#include "ir/reference/Latent.h"
#include "ir/reference/StepInput.h"
#include "ir/reference/WeightTransforms.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <numeric>

namespace quire::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

Rows rowsOf(int64_t rows, std::vector<float> values) {
  Rows out(rows, values.size() / rows);
  out.values = std::move(values);
  return out;
}

TEST(HeadLinear, MultipliesEachHeadWithItsOwnMatrix) {
  // Two heads of [2 outputs, 3 inputs].
  Weight stack{{2, 2, 3}, {1, 0, 2, 0, 1, 0, 3, 0, 0, 1, 1, 1}};
  EXPECT_THAT(headLinear(rowsOf(1, {1, 2, 3, 4, 5, 6}), stack, false).values,
              ElementsAre(7, 2, 12, 15));
  // Transposed: heads of two inputs and three outputs.
  EXPECT_THAT(headLinear(rowsOf(1, {1, 2, 3, 4}), stack, true).values,
              ElementsAre(1, 2, 2, 13, 4, 4));
}

class AttendLatents : public ::testing::Test {
protected:
  // Two tokens of two latent channels and one rotary channel.
  std::vector<float> latent = {1, 0, 0, 1};
  std::vector<float> rotary = {1, -1};
  std::vector<Visible> seen = {
      {{latent.data()}, {rotary.data()}},
      {{latent.data(), latent.data() + 2}, {rotary.data(), rotary.data() + 1}},
      {}};
};

TEST_F(AttendLatents, AbsorbedQueriesMeetTheLatentsThemselves) {
  LatentAttention attention{.heads = 2, .rank = 2, .rotary = 1, .scale = 0.5};
  // Scores of the second row: head 0 is 0.5 * (2 + 1), 0.5 * (0 - 1); head 1
  // is 0.5 * (0 + 0) of both.
  Rows out = attendLatents(attention,
                           rowsOf(3, {9, 9, 9, 9, //
                                      2, 0, 0, 0, //
                                      1, 1, 1, 1}),
                           rowsOf(3, {1, 1, 1, 0, 1, 1}), seen);
  float p = 1 / (1 + std::exp(-2.0f));
  EXPECT_THAT(out.values, Pointwise(FloatNear(1e-6f),
                                    {1.0f, 0.0f, 1.0f, 0.0f, p, 1 - p, 0.5f,
                                     0.5f, 0.0f, 0.0f, 0.0f, 0.0f}));
}

TEST_F(AttendLatents, RaisedKeysAndValuesAreTheHeads) {
  // Head 0 has the key (first channel, second), head 1 twice the second, 0.
  Weight keyUp{{2, 2, 2}, {1, 0, 0, 1, 0, 2, 0, 0}};
  // One value channel: 10 a + 20 b, and a - b.
  Weight valueUp{{2, 1, 2}, {10, 20, 1, -1}};
  LatentAttention attention{.heads = 2,
                            .rank = 2,
                            .rotary = 1,
                            .scale = 0.5,
                            .keyUp = &keyUp,
                            .valueUp = &valueUp};
  // Head 0 as in the test before; head 1: 0.5 * 0 and 0.5 * 2.
  Rows out = attendLatents(attention,
                           rowsOf(3, {9, 9, 9, 9, //
                                      2, 0, 1, 5, //
                                      1, 1, 1, 1}),
                           rowsOf(3, {1, 1, 1, 0, 1, 1}), seen);
  float p = 1 / (1 + std::exp(-2.0f));
  float q = 1 / (1 + std::exp(1.0f));
  EXPECT_THAT(out.values, Pointwise(FloatNear(1e-5f), {10.0f, 1.0f, 20 - 10 * p,
                                                       2 * q - 1, 0.0f, 0.0f}));
}

TEST(Forms, AreSelectedByThePromptAndMergedBack) {
  StepInput input;
  input.token = {1, 1, 1, 1, 1};
  input.position = {3, 4, 7, 2, 0};
  input.prompt = {4, 4, 11, 11, 11};
  input.group.emplace_back();
  input.group[0].slot = {0, 1, 2, 3, -1};
  auto materialised = rowsOfForm(input, 4, RowForm::Materialised);
  auto latent = rowsOfForm(input, 4, RowForm::Latent);
  // Row 1 was generated, row 4 is dead.
  EXPECT_THAT(materialised, ElementsAre(0, 2, 3));
  EXPECT_THAT(latent, ElementsAre(1, 4));
  // A prompt of 11 has two whole blocks of four; one of 4 has none of eight.
  EXPECT_THAT(rowsOfForm(input, 8, RowForm::Materialised), ElementsAre(2, 3));
  EXPECT_THAT(rowsOfForm(input, 0, RowForm::Materialised), ElementsAre());
  Rows rows = rowsOf(5, {10, 11, 20, 21, 30, 31, 40, 41, 50, 51});
  Rows chosen = selectRows(rows, materialised);
  EXPECT_THAT(chosen.values, ElementsAre(10, 11, 30, 31, 40, 41));
  EXPECT_EQ(mergeForms(chosen, selectRows(rows, latent), materialised).values,
            rows.values);
}

TEST(TakeRows, GivesTheSameRowsOfEveryHead) {
  Weight weight{{6, 2}, std::vector<float>(12)};
  std::iota(weight.values.begin(), weight.values.end(), 0.0f);
  Weight stack = takeRows(weight, 2, 1, {2, 2, 2});
  EXPECT_THAT(stack.shape, ElementsAre(2, 2, 2));
  EXPECT_THAT(stack.values, ElementsAre(2, 3, 4, 5, 8, 9, 10, 11));
  EXPECT_THAT(takeRows(weight, 2, 0, {2, 2}).values, ElementsAre(0, 1, 6, 7));
  Weight bias{{6}, {0, 1, 2, 3, 4, 5}};
  EXPECT_THAT(takeRows(bias, 2, 2, {2}).values, ElementsAre(2, 5));
}

TEST(Folds, MultiplyHeadByHead) {
  // Two heads of two content channels, rank one, three inputs.
  Weight query{{2, 2, 3}, {1, 2, 3, 4, 5, 6, 1, 0, 0, 0, 1, 0}};
  Weight key{{2, 2, 1}, {10, 1, 2, 3}};
  Weight folded = foldKey(query, key);
  EXPECT_THAT(folded.shape, ElementsAre(2, 3));
  EXPECT_THAT(folded.values, ElementsAre(14, 25, 36, 2, 3, 0));
  // Two heads of one value channel, rank two, two outputs.
  Weight product{{2, 2}, {1, 2, 3, 4}};
  Weight value{{2, 1, 2}, {10, 20, 5, 6}};
  folded = foldValue(product, value);
  EXPECT_THAT(folded.shape, ElementsAre(2, 4));
  EXPECT_THAT(folded.values, ElementsAre(10, 20, 10, 12, 30, 60, 20, 24));
}

} // namespace
} // namespace quire::reference
