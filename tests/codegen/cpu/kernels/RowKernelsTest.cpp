#include "tests/codegen/cpu/kernels/Harness.h"

#include "ir/rt/Layout.h"
#include "tests/support/Compare.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

namespace quire::test {
namespace {

class RowKernelsTest : public testing::TestWithParam<std::string> {};

struct NormShape {
  int64_t rows, features, width;
  const char *reason;
};

TEST_P(RowKernelsTest, RmsNormAddsNormsAndQuantizes) {
  Random random(1);
  for (const NormShape &shape :
       {NormShape{1, 64, 64, "whole vectors"},
        NormShape{3, 60, 60, "a part of a vector at the end"},
        NormShape{20, 96, 32, "three heads, eight rows a tile"},
        NormShape{2, 576, 576, "SmolLM2's hidden size"},
        NormShape{2, 1, 1, "the least there is"}}) {
    SCOPED_TRACE(shape.reason);
    const int64_t count = shape.rows * shape.features;
    const std::vector<float> x = randomFloats(random, count);
    const std::vector<float> delta = randomFloats(random, count);
    const std::vector<float> weight = randomFloats(random, shape.width);
    const double epsilon = 1e-5;
    std::vector<Expected> expected;
    std::vector<float> added;
    for (size_t i = 0; i < x.size(); ++i) {
      added.push_back(x[i] + delta[i]);
    }
    for (size_t s = 0; s < x.size(); s += static_cast<size_t>(shape.width)) {
      double squares = 0.0;
      for (size_t i = 0; i < static_cast<size_t>(shape.width); ++i) {
        squares += static_cast<double>(added[s + i]) * added[s + i];
      }
      const double inverse =
          1 / std::sqrt(squares / static_cast<double>(shape.width) + epsilon);
      for (size_t i = 0; i < static_cast<size_t>(shape.width); ++i) {
        const double v = added[s + i] * inverse * weight[i];
        expected.push_back({v, std::fabs(v)});
      }
    }
    RowsStep step(shape.rows);
    Aligned<float> sum(count), out(count);
    for (int64_t group : {0, 32, 256}) {
      for (bool inPlace : {false, true}) {
        std::vector<float> changing = x;
        Aligned<std::byte> quantized(layout::activationBytes(
            layout::ActivationFormat::Int8By256, shape.rows, shape.features));
        const cpu::RmsNormArgs args = {&step.step,
                                       changing.data(),
                                       delta.data(),
                                       weight.data(),
                                       inPlace ? changing.data() : sum.data(),
                                       out.data(),
                                       group ? quantized.data() : nullptr,
                                       shape.features,
                                       shape.width,
                                       epsilon,
                                       group,
                                       cpu::kBatchRows};
        runKernel(GetParam(), "rms_norm", &args,
                  layout::normScratchBytes(shape.features));
        EXPECT_TRUE(sameBits(inPlace ? std::span<float>(changing)
                                     : std::span(sum.data(), sum.size()),
                             added));
        const std::vector<float> normed(out.data(), out.data() + out.size());
        EXPECT_TRUE(closeTo(normed, expected, {1e-6, 1e-30}));

        // Without out and sum: the quantised form alone, of the same values.
        if (group) {
          Aligned<std::byte> alone(static_cast<int64_t>(quantized.size()));
          Aligned<std::byte> plain(static_cast<int64_t>(quantized.size()));
          cpu::RmsNormArgs less = args;
          less.x = x.data();
          less.sum = nullptr;
          less.out = nullptr;
          less.quantized = alone.data();
          runKernel(GetParam(), "rms_norm", &less,
                    layout::normScratchBytes(shape.features));
          const cpu::QuantizeArgs quantize = {&step.step,   normed.data(),
                                              plain.data(), shape.features,
                                              group,        cpu::kBatchRows};
          runKernel(GetParam(), "quantize", &quantize, 0);
          EXPECT_EQ(std::memcmp(alone.data(), quantized.data(), alone.size()),
                    0);
          EXPECT_EQ(std::memcmp(alone.data(), plain.data(), alone.size()), 0);
        }
      }
    }
  }
}

TEST_P(RowKernelsTest, QuantizeKeepsScaleAndSumsExactly) {
  Random random(2);
  const int64_t rows = 5, features = 600;
  std::vector<float> x = randomFloats(random, rows * features);
  // A row of zeros, and one whose inverse scale would overflow.
  std::fill_n(x.begin() + features, features, 0.0f);
  std::fill_n(x.begin() + 2 * features, features, 1e-38f);
  RowsStep step(rows);
  for (int64_t group : {32, 256}) {
    const auto format = group == 32 ? layout::ActivationFormat::Int8By32
                                    : layout::ActivationFormat::Int8By256;
    Aligned<std::byte> out(layout::activationBytes(format, rows, features));
    const cpu::QuantizeArgs args = {&step.step, x.data(), out.data(),
                                    features,   group,    cpu::kBatchRows};
    runKernel(GetParam(), "quantize", &args, 0);
    const int64_t groups = layout::activationGroups(format, features);
    const std::byte *meta =
        out.data() + layout::activationMetaOffset(format, rows, features);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t b = 0; b < groups * 32; b += group) {
        float largest = 0.0f;
        for (int64_t k = b; k < std::min(b + group, features); ++k) {
          largest = std::max(
              largest, std::fabs(x[static_cast<size_t>(r * features + k)]));
        }
        int sums[16] = {};
        const std::byte *m =
            meta + (b / group * rows + r) * (group == 32 ? 16 : 128);
        float scale;
        std::memcpy(&scale, m, 4);
        EXPECT_EQ(scale, largest >= 1e-34f ? largest / 127.0f : 0.0f);
        for (int64_t k = b; k < b + group; ++k) {
          const int q = static_cast<int8_t>(
              out[static_cast<size_t>((k / 32 * rows + r) * 32 + k % 32)]);
          sums[(k - b) / 16] += q;
          const float v =
              k < features ? x[static_cast<size_t>(r * features + k)] : 0.0f;
          const float inverse = scale > 0.0f ? 127.0f / largest : 0.0f;
          EXPECT_EQ(q, static_cast<int>(std::nearbyint(v * inverse)));
        }
        if (group == 32) {
          layout::Int8By32Group g;
          std::memcpy(&g, m, sizeof(g));
          EXPECT_EQ(g.minus8Sum, -8 * (sums[0] + sums[1]));
          EXPECT_EQ(g.scaledSum, scale * static_cast<float>(sums[0] + sums[1]));
        } else {
          layout::Int8By256Block g;
          std::memcpy(&g, m, sizeof(g));
          const int order[4] = {0, 2, 1, 3};
          for (int s = 0; s < 16; ++s) {
            EXPECT_EQ(g.minus32Sum16[s], -32 * sums[s]);
            EXPECT_EQ(g.sum16[s / 4 * 4 + order[s % 4]], sums[s]);
          }
          for (int s = 0; s < 8; ++s) {
            EXPECT_EQ(g.sum32[s / 4 * 4 + order[s % 4]],
                      sums[2 * s] + sums[2 * s + 1]);
          }
        }
      }
    }
  }
}

TEST_P(RowKernelsTest, RopeTableIsTheCosineAndSineOfTheF32Angle) {
  const std::vector<int32_t> positions = {0,    1,    7,     100,    4095,
                                          4096, 8191, 32767, 131071, 1000000};
  const int64_t half = 20;
  std::vector<float> frequency;
  for (int64_t i = 0; i < half; ++i) {
    frequency.push_back(
        static_cast<float>(std::pow(10000.0, -static_cast<double>(i) / half)));
  }
  RowsStep step(static_cast<int64_t>(positions.size()));
  step.batch.position = positions.data();
  for (int64_t dynamicContext : {0, 4096}) {
    Aligned<float> out(step.batch.rows * 2 * half);
    const double factor = 4.0;
    const cpu::RopeTableArgs args = {
        &step.step, frequency.data(), out.data(), half,
        1.25,       dynamicContext,   10000.0,    factor};
    runKernel(GetParam(), "rope_table", &args, 0);
    std::vector<Expected> expected;
    for (int32_t position : positions) {
      std::vector<float> used = frequency;
      if (dynamicContext > 0 && position + 1 > dynamicContext) {
        const double length = position + 1;
        const double dim = 2.0 * half;
        const double base =
            10000.0 *
            std::pow(factor * length / static_cast<double>(dynamicContext) -
                         (factor - 1),
                     dim / (dim - 2));
        for (int64_t i = 0; i < half; ++i) {
          used[static_cast<size_t>(i)] = static_cast<float>(
              1 / std::pow(base, 2.0 * static_cast<double>(i) / dim));
        }
      }
      for (int part = 0; part < 2; ++part) {
        for (float f : used) {
          const double angle = static_cast<float>(position) * f;
          expected.push_back(
              {1.25 * (part == 0 ? std::cos(angle) : std::sin(angle)), 1.25});
        }
      }
    }
    EXPECT_TRUE(
        closeTo(std::span(out.data(), out.size()), expected, {1.2e-7, 0.0}));
  }
}

TEST_P(RowKernelsTest, GatherCopiesTheRowsThatAreWanted) {
  Random random(3);
  const std::vector<float> x = randomFloats(random, 6 * 37);
  const std::vector<int32_t> wanted = {0, 2, 5};
  RowsStep step(6);
  step.batch.logitRows = 3;
  step.batch.logitRow = wanted.data();
  Aligned<float> out(3 * 37);
  const cpu::GatherArgs args = {&step.step, x.data(), out.data(), 37};
  runKernel(GetParam(), "gather_logit_rows", &args, 0);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(sameBits(
        std::span(out.data() + i * 37, 37),
        std::span(x).subspan(static_cast<size_t>(wanted[i]) * 37, 37)));
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, RowKernelsTest,
                         testing::ValuesIn(testedLevels()),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace quire::test
