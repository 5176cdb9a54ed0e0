#include "tests/codegen/cpu/kernels/Harness.h"

#include "ir/rt/Layout.h"
#include "tests/support/Compare.h"

#include "gtest/gtest.h"

#include <cmath>

namespace quire::test {
namespace {

struct Shape {
  int64_t outputs;
  int64_t inputs;
  const char *reason;
};

std::vector<Shape> shapesFor(NumberFormat format) {
  switch (layout::activationFormatFor(format)) {
  case layout::ActivationFormat::F32:
    return {{64, 64, "one supertile, one chain"},
            {70, 257, "ragged outputs, odd K, five chains"},
            {1, 1, "the least there is"},
            {130, 60, "K below a chain"}};
  case layout::ActivationFormat::Int8By32:
    return {{64, 256, "one supertile, one block"},
            {70, 288, "ragged outputs, a last block of one group"},
            {16, 32, "one tile of one group"},
            {130, 576, "SmolLM2's K: two blocks and two groups"}};
  case layout::ActivationFormat::Int8By256:
    return {{64, 256, "one supertile, one block"},
            {70, 768, "ragged outputs, three blocks"},
            {16, 2048, "one tile of many blocks"}};
  }
  return {};
}

class LinearTest
    : public testing::TestWithParam<std::tuple<std::string, NumberFormat>> {
protected:
  std::string level() const { return std::get<0>(GetParam()); }
  NumberFormat format() const { return std::get<1>(GetParam()); }

  /// out [rows, stride] of linear_<format>; unwritten elements stay NaN.
  std::vector<float> linear(const TestWeight &weight,
                            const std::vector<float> &x, int64_t rows,
                            const float *bias, int64_t stride) const {
    RowsStep step(rows);
    TestActivation activation(level(), format(), rows, weight.inputs, x);
    Aligned<float> out(rows * stride);
    const cpu::LinearArgs args = {
        &step.step,     activation.bytes.data(), weight.packed.data(), bias,
        out.data(),     weight.inputs,           weight.rows,          stride,
        cpu::kBatchRows};
    runKernel(level(), "linear_" + std::string(numberFormatName(format())),
              &args, layout::kLinearScratchBytes);
    return {out.data(), out.data() + out.size()};
  }
};

TEST_P(LinearTest, IsTheProductOfWhatIsStored) {
  Random random(1);
  for (const Shape &shape : shapesFor(format())) {
    SCOPED_TRACE(shape.reason);
    const TestWeight weight(format(), shape.outputs, shape.inputs, random);
    for (int64_t rows : {1, 3, 9}) {
      const std::vector<float> x = randomFloats(random, rows * shape.inputs);
      const std::vector<float> bias = randomFloats(random, shape.outputs);
      const TestActivation seen(level(), format(), rows, shape.inputs, x);
      const std::vector<float> got =
          linear(weight, x, rows, bias.data(), shape.outputs);
      std::vector<Expected> expected;
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t n = 0; n < shape.outputs; ++n) {
          Expected e = {bias[static_cast<size_t>(n)],
                        std::fabs(bias[static_cast<size_t>(n)])};
          for (int64_t k = 0; k < shape.inputs; ++k) {
            const double term =
                static_cast<double>(
                    weight.values[static_cast<size_t>(n * shape.inputs + k)]) *
                seen.values[static_cast<size_t>(r * shape.inputs + k)];
            e.value += term;
            e.magnitude += std::fabs(term);
          }
          expected.push_back(e);
        }
      }
      EXPECT_TRUE(closeTo(got, expected, toleranceFor(format())))
          << rows << " rows";
    }
  }
}

TEST_P(LinearTest, ARowHasTheSameBitsInAnyCompany) {
  Random random(2);
  for (const Shape &shape : shapesFor(format())) {
    SCOPED_TRACE(shape.reason);
    const TestWeight weight(format(), shape.outputs, shape.inputs, random);
    // Around every blocking, and two row chunks.
    const int64_t most = layout::kLinearRows + 7;
    const std::vector<float> x = randomFloats(random, most * shape.inputs);
    std::vector<float> alone;
    for (int64_t r = 0; r < most; ++r) {
      const std::vector<float> row(x.begin() + r * shape.inputs,
                                   x.begin() + (r + 1) * shape.inputs);
      const std::vector<float> out =
          linear(weight, row, 1, nullptr, shape.outputs);
      alone.insert(alone.end(), out.begin(), out.end());
    }
    for (int64_t rows : {2, 3, 4, 5, 6, 7, 8, 13, 32, 61}) {
      const std::vector<float> some(x.begin(), x.begin() + rows * shape.inputs);
      EXPECT_TRUE(sameBits(
          linear(weight, some, rows, nullptr, shape.outputs),
          std::span(alone).first(static_cast<size_t>(rows * shape.outputs))))
          << rows << " rows";
    }
    EXPECT_TRUE(
        sameBits(linear(weight, x, most, nullptr, shape.outputs), alone));
  }
}

TEST_P(LinearTest, LeavesWhatIsNotItsOwnAlone) {
  Random random(3);
  const Shape shape = shapesFor(format())[1];
  const TestWeight weight(format(), shape.outputs, shape.inputs, random);
  const int64_t stride = shape.outputs + 5;
  const std::vector<float> x = randomFloats(random, 6 * shape.inputs);
  const std::vector<float> got = linear(weight, x, 6, nullptr, stride);
  for (int64_t r = 0; r < 6; ++r) {
    for (int64_t n = 0; n < stride; ++n) {
      EXPECT_EQ(std::isnan(got[static_cast<size_t>(r * stride + n)]),
                n >= shape.outputs)
          << r << ", " << n;
    }
  }
}

TEST_P(LinearTest, GatedIsTheActivationOfOneTimesTheOther) {
  Random random(4);
  const Shape shape = shapesFor(format())[1];
  const TestWeight gate(format(), shape.outputs, shape.inputs, random);
  const TestWeight up(format(), shape.outputs, shape.inputs, random);
  const float spread = 1.0f / std::sqrt(static_cast<float>(shape.inputs));
  for (int64_t rows : {1, 6}) {
    const std::vector<float> x =
        randomFloats(random, rows * shape.inputs, spread);
    const std::vector<float> g = linear(gate, x, rows, nullptr, shape.outputs);
    const std::vector<float> u = linear(up, x, rows, nullptr, shape.outputs);
    for (int64_t kind : {cpu::kSilu, cpu::kGeluTanh, cpu::kGelu}) {
      std::vector<Expected> expected;
      for (size_t i = 0; i < g.size(); ++i) {
        const double v = g[i];
        const double cube = v + 0.044715 * v * v * v;
        const double f =
            kind == cpu::kSilu ? v / (1 + std::exp(-v))
            : kind == cpu::kGelu
                ? 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)))
                : 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * cube));
        // Far out on the left 1 + erf cancels.
        expected.push_back(
            {f * u[i], std::fabs(f * u[i]) + 0.1 * std::fabs(v * u[i])});
      }
      RowsStep step(rows);
      TestActivation activation(level(), format(), rows, shape.inputs, x);
      Aligned<float> out(rows * shape.outputs);
      const cpu::GatedLinearArgs args = {&step.step,
                                         activation.bytes.data(),
                                         gate.packed.data(),
                                         up.packed.data(),
                                         out.data(),
                                         shape.inputs,
                                         shape.outputs,
                                         shape.outputs,
                                         kind,
                                         cpu::kBatchRows};
      runKernel(level(),
                "gated_linear_" + std::string(numberFormatName(format())),
                &args, layout::kLinearScratchBytes);
      EXPECT_TRUE(
          closeTo(std::span(out.data(), out.size()), expected, {1e-6, 1e-30}))
          << "kind " << kind << ", " << rows << " rows";
    }
  }
}

TEST_P(LinearTest, EmbeddingGivesBackTheFilesValues) {
  Random random(5);
  for (const Shape &shape : shapesFor(format())) {
    SCOPED_TRACE(shape.reason);
    const TestWeight weight(format(), shape.outputs, shape.inputs, random);
    RowsStep step(shape.outputs);
    std::vector<int32_t> tokens;
    for (int64_t n = 0; n < shape.outputs; ++n) {
      tokens.push_back(static_cast<int32_t>(n));
    }
    step.batch.token = tokens.data();
    Aligned<float> out(shape.outputs * shape.inputs);
    const cpu::EmbedArgs args = {&step.step,   weight.packed.data(), out.data(),
                                 shape.inputs, weight.rows,          1.0};
    runKernel(level(), "embed_" + std::string(numberFormatName(format())),
              &args, 0);
    EXPECT_TRUE(sameBits(std::span(out.data(), out.size()), weight.values));
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, LinearTest,
                         testing::Combine(testing::ValuesIn(testedLevels()),
                                          testing::ValuesIn(weightFormats())),
                         [](const auto &info) { return caseName(info.param); });

} // namespace
} // namespace quire::test
