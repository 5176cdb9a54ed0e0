// Kernels of mixtures of experts against the reference functions, and the bits
// of a pair against those of the plain product.

#include "tests/codegen/cpu/kernels/Harness.h"

#include "ir/reference/Experts.h"
#include "ir/rt/Layout.h"
#include "tests/support/Compare.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <set>

namespace quire::test {
namespace {

struct RouteShape {
  int64_t rows, experts;
  reference::Routing routing;
  bool bias;
  const char *reason;
};

std::vector<RouteShape> routeShapes() {
  using reference::GroupScore;
  using reference::RouterGate;
  return {
      {1, 1, {.top = 1}, false, "the least there is"},
      {20, 8, {.top = 2, .normalise = true}, false, "Mixtral, rows by eight"},
      {3, 60, {.top = 4}, false, "Qwen2-MoE: no whole vectors"},
      {5, 16, {.top = 16, .scale = 0.5}, false, "every expert"},
      {4,
       160,
       {.top = 6, .groups = 8, .topGroups = 3, .scale = 16},
       false,
       "DeepSeek-V2"},
      {4,
       256,
       {.gate = RouterGate::Sigmoid,
        .top = 8,
        .groups = 8,
        .topGroups = 4,
        .groupScore = GroupScore::Top2,
        .normalise = true,
        .scale = 2.5},
       true,
       "DeepSeek-V3"},
      {4,
       12,
       {.gate = RouterGate::Sigmoid, .top = 3, .groups = 12, .topGroups = 3},
       true,
       "groups of one expert"},
  };
}

class ExpertKernels : public testing::TestWithParam<std::string> {
protected:
  std::vector<layout::Route> route(const RouteShape &shape,
                                   const std::vector<float> &scores,
                                   const std::vector<float> &bias) {
    RowsStep step(shape.rows);
    Aligned<layout::Route> routes(shape.rows * shape.routing.top);
    const cpu::RouteArgs args = {&step.step,
                                 scores.data(),
                                 shape.bias ? bias.data() : nullptr,
                                 reinterpret_cast<std::byte *>(routes.data()),
                                 shape.experts,
                                 shape.routing.top,
                                 static_cast<int64_t>(shape.routing.gate),
                                 shape.routing.groups,
                                 shape.routing.topGroups,
                                 static_cast<int64_t>(shape.routing.groupScore),
                                 shape.routing.normalise,
                                 shape.routing.scale};
    runKernel(GetParam(), "route", &args,
              layout::routeScratchBytes(shape.experts));
    return {routes.data(), routes.data() + routes.size()};
  }
};

TEST_P(ExpertKernels, RouteChoosesAsTheReferenceDoes) {
  Random random(1);
  for (const RouteShape &shape : routeShapes()) {
    SCOPED_TRACE(shape.reason);
    reference::Rows scores(shape.rows, shape.experts);
    scores.values = randomFloats(random, shape.rows * shape.experts, 2.0f);
    reference::Weight bias{{shape.experts},
                           randomFloats(random, shape.experts, 0.1f)};
    reference::Rows expected =
        reference::route(shape.routing, scores, shape.bias ? &bias : nullptr);
    auto got = route(shape, scores.values, bias.values);
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(float(got[i].expert), expected.values[2 * i]) << i;
      EXPECT_NEAR(got[i].weight, expected.values[2 * i + 1],
                  2e-6f * float(shape.routing.scale))
          << i;
    }
  }
}

TEST_P(ExpertKernels, TiesGoToTheLowerExpert) {
  RouteShape shape{1, 9, {.top = 3}, false, ""};
  auto routes = route(shape, std::vector<float>(9, 1.5f), {});
  EXPECT_EQ(routes[0].expert, 0);
  EXPECT_EQ(routes[1].expert, 1);
  EXPECT_EQ(routes[2].expert, 2);
  shape.routing = {.top = 2, .groups = 3, .topGroups = 1};
  routes = route(shape, {0, 5, 0, 5, 0, 0, 0, 0, 5}, {});
  EXPECT_EQ(routes[0].expert, 0);
  EXPECT_EQ(routes[1].expert, 1);
}

// Such rows come of broken weights; whatever they mean, memory is safe.
TEST_P(ExpertKernels, ScoresThatAreNoNumbersStillGiveExperts) {
  for (RouteShape shape : routeShapes()) {
    SCOPED_TRACE(shape.reason);
    for (float value : {NAN, INFINITY, -INFINITY}) {
      std::vector<float> scores(shape.rows * shape.experts, value);
      auto routes = route(shape, scores, std::vector<float>(shape.experts));
      std::set<int32_t> seen;
      for (int64_t i = 0; i < shape.routing.top; ++i) {
        EXPECT_GE(routes[i].expert, 0);
        EXPECT_LT(routes[i].expert, shape.experts);
        seen.insert(routes[i].expert);
      }
      EXPECT_EQ(int64_t(seen.size()), shape.routing.top);
    }
  }
}

/// Rows with given experts, sorted into pairs by the kernel.
struct SortedPairs {
  int64_t rows, experts, top;
  RowsStep step{rows};
  std::vector<layout::Route> routes;
  layout::PairTable shape{experts, rows, top};
  Aligned<int32_t> table{shape.bytes() / 4};

  SortedPairs(const std::string &level, int64_t rows, int64_t experts,
              int64_t top, Random &random)
      : rows(rows), experts(experts), top(top) {
    for (int64_t r = 0; r < rows; ++r) {
      std::set<int32_t> chosen;
      while (int64_t(chosen.size()) < top) {
        chosen.insert(int32_t(random() % uint64_t(experts)));
      }
      for (int32_t expert : chosen) {
        routes.push_back({expert, randomFloats(random, 1)[0]});
      }
    }
    const cpu::GroupRoutesArgs args = {
        &step.step, reinterpret_cast<std::byte *>(routes.data()), table.data(),
        experts, top};
    runKernel(level, "group_routes", &args, 0);
  }

  reference::Rows asRows() const {
    reference::Rows result(rows, 2 * top);
    for (size_t i = 0; i < routes.size(); ++i) {
      result.values[2 * i] = float(routes[i].expert);
      result.values[2 * i + 1] = routes[i].weight;
    }
    return result;
  }
  int64_t rowOf(int64_t pair) const { return table[shape.rowAt() + pair]; }
};

TEST_P(ExpertKernels, PairsAreSortedByExpertAndRow) {
  Random random(2);
  for (auto [rows, experts, top] :
       {std::tuple(0, 4, 2), {1, 128, 8}, {7, 3, 3}, {40, 16, 4}}) {
    SortedPairs pairs(GetParam(), rows, experts, top, random);
    reference::Rows expected = reference::groupRoutes(pairs.asRows());
    const layout::PairTable &shape = pairs.shape;
    int64_t touched = pairs.table[0];
    int64_t pair = 0;
    for (int64_t t = 0; t < touched; ++t) {
      ASSERT_EQ(pairs.table[shape.beginAt() + t], pair);
      for (; pair < pairs.table[shape.beginAt() + t + 1]; ++pair) {
        EXPECT_EQ(float(pairs.table[shape.expertAt() + t]),
                  expected.row(pair)[0]);
        EXPECT_EQ(float(pairs.rowOf(pair)), expected.row(pair)[1]);
      }
    }
    EXPECT_EQ(pair, rows * top);
  }
}

TEST_P(ExpertKernels, DispatchMovesRowsAsTheyAre) {
  Random random(3);
  for (int64_t features : {64, 100, 600}) {
    SortedPairs pairs(GetParam(), 9, 8, 3, random);
    int64_t count = pairs.shape.pairs();
    std::vector<float> x = randomFloats(random, 9 * features);
    std::vector<float> gathered;
    for (int64_t p = 0; p < count; ++p) {
      auto row = x.begin() + pairs.rowOf(p) * features;
      gathered.insert(gathered.end(), row, row + features);
    }
    RowsStep all(count);
    for (int64_t group : {0, 32, 256}) {
      auto format = group == 0    ? layout::ActivationFormat::F32
                    : group == 32 ? layout::ActivationFormat::Int8By32
                                  : layout::ActivationFormat::Int8By256;
      auto rounded = [&](QuireStep &step, int64_t rows,
                         const std::vector<float> &from) {
        auto held = std::make_unique<Aligned<std::byte>>(
            layout::activationBytes(format, rows, features));
        Aligned<std::byte> &out = *held;
        if (group == 0) {
          std::memcpy(out.data(), from.data(), from.size() * 4);
        } else {
          const cpu::QuantizeArgs args = {
              &step, from.data(), out.data(), features, group, cpu::kBatchRows};
          runKernel(GetParam(), "quantize", &args, 0);
        }
        return held;
      };
      auto rows = rounded(pairs.step.step, 9, x);
      auto expected = rounded(all.step, count, gathered);
      Aligned<std::byte> out(int64_t(expected->size()));
      const cpu::DispatchArgs args = {
          &pairs.step.step, rows->data(), pairs.table.data(), out.data(),
          pairs.experts,    pairs.top,    features,           group};
      runKernel(GetParam(), "dispatch", &args, 0);
      EXPECT_EQ(std::memcmp(out.data(), expected->data(), out.size()), 0)
          << features << " by " << group;
    }
  }
}

TEST_P(ExpertKernels, CombineWeighsEveryPairOfARow) {
  Random random(4);
  for (int64_t features : {1, 16, 70}) {
    SortedPairs pairs(GetParam(), 19, 8, 3, random);
    reference::Rows x(pairs.shape.pairs(), features);
    x.values = randomFloats(random, x.rows * features);
    reference::Rows routes = pairs.asRows();
    reference::Rows expected =
        reference::combine(x, routes, reference::groupRoutes(routes));
    Aligned<float> out(19 * features);
    const cpu::CombineArgs args = {
        &pairs.step.step,
        x.values.data(),
        reinterpret_cast<std::byte *>(pairs.routes.data()),
        pairs.table.data(),
        out.data(),
        pairs.experts,
        pairs.top,
        features};
    runKernel(GetParam(), "combine", &args, 0);
    for (size_t i = 0; i < out.size(); ++i) {
      EXPECT_NEAR(out[i], expected.values[i], 1e-5f);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, ExpertKernels,
                         testing::ValuesIn(testedLevels()));

class ExpertProducts
    : public testing::TestWithParam<std::tuple<std::string, NumberFormat>> {
protected:
  std::string level() const { return std::get<0>(GetParam()); }
  NumberFormat format() const { return std::get<1>(GetParam()); }
  std::string kernel(const std::string &family) const {
    return family + "_" + std::string(numberFormatName(format()));
  }
};

/// Ragged outputs; an expert with more rows than a tile holds, too.
struct ProductShape {
  int64_t rows, experts, top, outputs;
};

// A pair has the bits that its row has in a plain product with its expert's
// matrix, alone: so neither its company nor the sorting can show.
TEST_P(ExpertProducts, PairsHaveTheBitsOfPlainProducts) {
  Random random(5);
  const int64_t inputs = 256;
  for (const ProductShape &shape :
       {ProductShape{1, 5, 2, 70}, ProductShape{11, 4, 2, 70},
        ProductShape{layout::kLinearRows + 5, 2, 1, 64}}) {
    // All matrices of the stack as one tensor of so many rows, each packed as
    // whole supertiles.
    const int64_t padded = layout::supertiles(shape.outputs) * 64;
    const TestWeight gate(format(), shape.experts * padded, inputs, random);
    const TestWeight up(format(), shape.experts * padded, inputs, random);
    SortedPairs pairs(level(), shape.rows, shape.experts, shape.top, random);
    const int64_t count = pairs.shape.pairs();
    std::vector<float> x = randomFloats(random, count * inputs, 0.05f);
    TestActivation all(level(), format(), count, inputs, x);
    Aligned<float> out(count * shape.outputs), gated(count * shape.outputs);
    const cpu::ExpertLinearArgs args = {
        &pairs.step.step,   all.bytes.data(), pairs.table.data(),
        gate.packed.data(), out.data(),       shape.experts,
        shape.top,          inputs,           shape.outputs};
    runKernel(level(), kernel("expert_linear"), &args,
              layout::kLinearScratchBytes);
    const cpu::ExpertGatedLinearArgs both = {
        &pairs.step.step,   all.bytes.data(), pairs.table.data(),
        gate.packed.data(), up.packed.data(), gated.data(),
        shape.experts,      shape.top,        inputs,
        shape.outputs,      cpu::kSilu};
    runKernel(level(), kernel("expert_gated_linear"), &both,
              layout::kLinearScratchBytes);

    const int64_t matrixBytes =
        layout::packedWeightBytes(format(), shape.outputs, inputs);
    RowsStep one(1);
    reference::Rows groups = reference::groupRoutes(pairs.asRows());
    for (int64_t p = 0; p < count; ++p) {
      const int64_t at = int64_t(groups.row(p)[0]) * matrixBytes;
      const std::vector<float> row(x.begin() + p * inputs,
                                   x.begin() + (p + 1) * inputs);
      TestActivation alone(level(), format(), 1, inputs, row);
      Aligned<float> plain(shape.outputs), plainGated(shape.outputs);
      const cpu::LinearArgs linear = {
          &one.step,     alone.bytes.data(), gate.packed.data() + at,
          nullptr,       plain.data(),       inputs,
          shape.outputs, shape.outputs,      cpu::kBatchRows};
      runKernel(level(), kernel("linear"), &linear,
                layout::kLinearScratchBytes);
      const cpu::GatedLinearArgs gatedLinear = {&one.step,
                                                alone.bytes.data(),
                                                gate.packed.data() + at,
                                                up.packed.data() + at,
                                                plainGated.data(),
                                                inputs,
                                                shape.outputs,
                                                shape.outputs,
                                                cpu::kSilu,
                                                cpu::kBatchRows};
      runKernel(level(), kernel("gated_linear"), &gatedLinear,
                layout::kLinearScratchBytes);
      auto rowOf = [&](Aligned<float> &from) {
        return std::span(from.data() + p * shape.outputs,
                         size_t(shape.outputs));
      };
      ASSERT_TRUE(sameBits(rowOf(out), std::span(plain.data(), plain.size())))
          << "pair " << p << " of " << count;
      ASSERT_TRUE(sameBits(rowOf(gated),
                           std::span(plainGated.data(), plainGated.size())))
          << "pair " << p << " of " << count;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExpertProducts,
                         testing::Combine(testing::ValuesIn(testedLevels()),
                                          testing::ValuesIn(weightFormats())),
                         [](const auto &info) { return caseName(info.param); });

} // namespace
} // namespace quire::test
