#include "tests/codegen/cpu/kernels/TestStack.h"

#include "ir/rt/Layout.h"
#include "tests/support/Compare.h"

#include "gtest/gtest.h"

#include <cmath>

namespace quire::test {
namespace {

/// What the matrices of a stack have in common.
struct Shape {
  int64_t heads;
  int64_t rows; // packed rows of a head's matrix
  int64_t inputs;
  const char *reason;
};

std::vector<Shape> shapesFor(NumberFormat format) {
  switch (layout::activationFormatFor(format)) {
  case layout::ActivationFormat::F32:
    return {{2, 128, 64, "whole panels"},
            {3, 6, 8, "the tiny models' sizes"},
            {2, 70, 131, "ragged both ways, odd"},
            {1, 1, 1, "the least there is"}};
  case layout::ActivationFormat::Int8By32:
    return {{2, 128, 64, "whole panels"},
            {3, 6, 32, "one group"},
            {2, 70, 160, "ragged rows, a half panel of inputs"}};
  case layout::ActivationFormat::Int8By256:
    return {{2, 128, 256, "one block"}, {3, 70, 512, "ragged rows"}};
  }
  return {};
}

class HeadLinearTest
    : public testing::TestWithParam<
          std::tuple<std::tuple<std::string, NumberFormat>, bool>> {
protected:
  std::string level() const { return std::get<0>(std::get<0>(GetParam())); }
  NumberFormat format() const { return std::get<1>(std::get<0>(GetParam())); }
  bool transposed() const { return std::get<1>(GetParam()); }

  int64_t inputsOf(const Shape &s) const {
    return transposed() ? s.rows : s.inputs;
  }
  int64_t outputsOf(const Shape &s) const {
    return transposed() ? s.inputs : s.rows;
  }

  std::vector<float> product(const Shape &shape, const TestStack &stack,
                             const std::vector<float> &x, int64_t rows,
                             int64_t rowSet = cpu::kBatchRows) const {
    RowsStep step(rows);
    if (rowSet != cpu::kBatchRows) {
      step.batch.rows = 1000;
      step.batch.formRows[rowSet - cpu::kLatentRows] =
          static_cast<int32_t>(rows);
    }
    Aligned<float> out(rows * shape.heads * outputsOf(shape));
    const cpu::HeadLinearArgs args = {
        &step.step,  x.data(),        stack.packed.data(), out.data(),
        shape.heads, inputsOf(shape), outputsOf(shape),    rowSet};
    runKernel(level(),
              (transposed() ? "head_linear_t_" : "head_linear_") +
                  std::string(numberFormatName(format())),
              &args, layout::kLinearScratchBytes);
    return {out.data(), out.data() + out.size()};
  }
};

TEST_P(HeadLinearTest, IsEachHeadsProduct) {
  Random random(1);
  for (const Shape &shape : shapesFor(format())) {
    SCOPED_TRACE(shape.reason);
    const TestStack stack(format(), shape.heads, shape.rows, shape.inputs,
                          random);
    const int64_t inputs = inputsOf(shape), outputs = outputsOf(shape);
    for (int64_t rows : {1, 5}) {
      const std::vector<float> x =
          randomFloats(random, rows * shape.heads * inputs);
      std::vector<Expected> expected;
      for (int64_t r = 0; r < rows * shape.heads; ++r) {
        const TestWeight &w = stack[r % shape.heads];
        for (int64_t o = 0; o < outputs; ++o) {
          Expected e = {0.0, 0.0};
          for (int64_t i = 0; i < inputs; ++i) {
            const int64_t at =
                transposed() ? i * shape.inputs + o : o * shape.inputs + i;
            const double term =
                static_cast<double>(w.values[static_cast<size_t>(at)]) *
                x[static_cast<size_t>(r * inputs + i)];
            e.value += term;
            e.magnitude += std::fabs(term);
          }
          expected.push_back(e);
        }
      }
      EXPECT_TRUE(closeTo(product(shape, stack, x, rows), expected,
                          toleranceFor(NumberFormat::F32)))
          << rows << " rows";
    }
  }
}

TEST_P(HeadLinearTest, ARowHasTheSameBitsInAnyCompany) {
  Random random(2);
  for (const Shape &shape : shapesFor(format())) {
    SCOPED_TRACE(shape.reason);
    const TestStack stack(format(), shape.heads, shape.rows, shape.inputs,
                          random);
    const int64_t width = shape.heads * inputsOf(shape);
    const int64_t most = layout::kLinearRows + 3;
    const std::vector<float> x = randomFloats(random, most * width);
    const std::vector<float> all = product(shape, stack, x, most);
    const int64_t outWidth = shape.heads * outputsOf(shape);
    for (int64_t rows : {1, 2, 7, 19}) {
      const std::vector<float> last(x.end() - rows * width, x.end());
      for (int64_t rowSet : {cpu::kBatchRows, cpu::kMaterialisedRows}) {
        EXPECT_TRUE(
            sameBits(product(shape, stack, last, rows, rowSet),
                     std::span(all).last(static_cast<size_t>(rows * outWidth))))
            << rows << " rows";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, HeadLinearTest,
    testing::Combine(testing::Combine(testing::ValuesIn(testedLevels()),
                                      testing::ValuesIn(weightFormats())),
                     testing::Bool()),
    [](const auto &info) {
      return caseName(std::get<0>(info.param)) +
             (std::get<1>(info.param) ? "_t" : "");
    });

} // namespace
} // namespace quire::test
