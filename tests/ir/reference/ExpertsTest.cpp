// Routing and the grouped form against values worked out by hand, and
// DeepSeek's rules against what transformers 5 computes of the same scores.

#include "ir/reference/Experts.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

namespace quire::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

Rows rowsOf(int64_t count, std::vector<float> values) {
  Rows rows(count, static_cast<int64_t>(values.size()) / count);
  rows.values = std::move(values);
  return rows;
}

const Rows kScores = rowsOf(
    3, {-0.11f, 0.54f,  -1.17f, 0.11f, 1.0f,  -0.43f, 2.43f,  -2.4f,  -0.08f,
        -0.46f, 0.37f,  -0.33f, 1.37f, 0.31f, 0.86f,  0.62f,  0.39f,  1.4f,
        -0.77f, -2.48f, 0.06f,  -0.1f, 0.64f, -1.3f,  -1.79f, 1.54f,  0.11f,
        -0.28f, -1.44f, 0.1f,   0.99f, 1.23f, 0.84f,  -0.37f, -1.62f, 0.89f});

// DeepseekV3TopkRouter with n_group 4, topk_group 2, norm_topk_prob.
TEST(Route, GroupsByTheirTwoBestAndCorrectedScores) {
  Weight bias{{12},
              {-0.36f, 0.16f, -0.44f, -0.19f, 0.05f, -0.07f, 0.14f, 0.0f, 0.4f,
               0.44f, 0.13f, 0.31f}};
  Routing routing{.gate = RouterGate::Sigmoid,
                  .top = 4,
                  .groups = 4,
                  .topGroups = 2,
                  .groupScore = GroupScore::Top2,
                  .normalise = true,
                  .scale = 2.5};
  EXPECT_THAT(
      route(routing, kScores, &bias).values,
      Pointwise(FloatNear(1e-6f),
                {6.f,  1.0423681f, 8.f,  0.5443968f, 9.f,  0.4388941f,
                 11.f, 0.4743412f, 4.f,  0.5896221f, 5.f,  0.7932234f,
                 9.f,  0.4697147f, 10.f, 0.6474397f, 6.f,  0.7162008f,
                 8.f,  0.6861193f, 9.f,  0.4013198f, 11.f, 0.6963601f}));
}

// DeepseekV2TopkRouter, group_limited_greedy with n_group 3, topk_group 2.
TEST(Route, GroupsByTheirBest) {
  Routing routing{.top = 3, .groups = 3, .topGroups = 2, .scale = 16};
  EXPECT_THAT(route(routing, kScores, nullptr).values,
              Pointwise(FloatNear(1e-5f),
                        {1.f, 1.2160592f, 4.f, 1.9263279f, 6.f, 8.0495453f, 0.f,
                         3.1904762f, 2.f, 1.9158670f, 5.f, 3.2876406f, 1.f,
                         3.7696886f, 6.f, 2.1749213f, 7.f, 2.7648666f}));
}

TEST(Route, TiesGoToTheLowerExpert) {
  Routing routing{.top = 2, .normalise = true};
  EXPECT_THAT(route(routing, rowsOf(1, {1, 2, 2, 2}), nullptr).values,
              ElementsAre(1, 0.5f, 2, 0.5f));
}

TEST(Route, ScoresThatAreNoNumbersChooseDifferentExperts) {
  Routing routing{.top = 3, .groups = 2, .topGroups = 2};
  Rows routes = route(routing, rowsOf(1, std::vector<float>(6, NAN)), nullptr);
  EXPECT_LT(routes.values[0], routes.values[2]);
  EXPECT_LT(routes.values[2], routes.values[4]);
}

TEST(GroupRoutes, SortsPairsByExpertThenRow) {
  Rows routes = rowsOf(3, {1, .5f, 2, .5f, 0, .5f, 2, .5f, 1, .5f, 2, .5f});
  EXPECT_THAT(groupRoutes(routes).values,
              ElementsAre(0, 1, 1, 0, 1, 2, 2, 0, 2, 1, 2, 2));
}

TEST(Experts, SumWhatEachExpertMakesOfARow) {
  // Two experts of one inner feature: gate 1 and up e + 1, down 1.
  Weight gate{{2, 1, 2}, {1, 0, 1, 0}};
  Weight up{{2, 1, 2}, {0, 1, 0, 2}};
  Weight down{{2, 2, 1}, {1, 0, 0, 1}};
  Rows x = rowsOf(2, {1, 3, 2, 5});
  Rows routes = rowsOf(2, {0, .25f, 1, .75f, 0, 1, 1, 0});
  double silu1 = 1 / (1 + std::exp(-1.0)), silu2 = 2 / (1 + std::exp(-2.0));
  std::vector<float> expected = {float(.25 * silu1 * 3), float(.75 * silu1 * 6),
                                 float(silu2 * 5), 0};
  EXPECT_THAT(experts(Nonlinearity::Silu, x, routes, {gate, up, down}).values,
              Pointwise(FloatNear(1e-6f), expected));
}

} // namespace
} // namespace quire::reference
