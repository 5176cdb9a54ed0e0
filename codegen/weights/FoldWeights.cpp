#include "codegen/weights/FoldWeights.h"

#include "codegen/weights/MultiplyInOrder.h"

#include <algorithm>

namespace quire {

static std::vector<float> valuesOf(const WeightExpression &expression,
                                   int64_t firstRow, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count * expression.columns));
  evaluateRows(expression, firstRow, count, values);
  return values;
}

static std::vector<float> valuesOf(const WeightExpression &matrix) {
  return valuesOf(matrix, 0, matrix.rows);
}

/// Rows of one head after the other: raising^T query.
static void foldKey(const WeightFold &fold, int64_t firstRow, int64_t count,
                    float *out) {
  int64_t rank = fold.raising.front().columns;
  int64_t inputs = fold.query.front().columns;
  for (int64_t row = firstRow; row < firstRow + count;) {
    int64_t head = row / rank;
    int64_t end = std::min(firstRow + count, (head + 1) * rank);
    std::vector<float> raising =
        valuesOf(fold.raising[static_cast<size_t>(head)]);
    std::vector<float> query = valuesOf(fold.query[static_cast<size_t>(head)]);
    multiplyInOrder({end - row, fold.raising.front().rows, inputs},
                    {raising.data() + row % rank, 1, rank}, query.data(), out,
                    inputs);
    out += (end - row) * inputs;
    row = end;
  }
}

/// A block of a matrix into another; `columns` floats of each row.
static void copyBlock(const float *from, int64_t fromStride, int64_t rows,
                      int64_t columns, float *to, int64_t toStride) {
  for (int64_t row = 0; row < rows; ++row) {
    std::copy_n(from + row * fromStride, columns, to + row * toStride);
  }
}

/// Columns of one head after the other: product raising.
static void foldValue(const WeightFold &fold, int64_t firstRow, int64_t count,
                      float *out) {
  int64_t rank = fold.raising.front().columns;
  int64_t channels = fold.raising.front().rows;
  int64_t stride = static_cast<int64_t>(fold.raising.size()) * rank;
  std::vector<float> product = valuesOf(fold.product, firstRow, count);
  // One head at a time stands alone: whole rows are so far apart that they
  // would meet in the same few cache sets.
  std::vector<float> from(static_cast<size_t>(count * channels));
  std::vector<float> to(static_cast<size_t>(count * rank));
  for (size_t head = 0; head < fold.raising.size(); ++head) {
    auto h = static_cast<int64_t>(head);
    std::vector<float> raising = valuesOf(fold.raising[head]);
    copyBlock(product.data() + h * channels, fold.product.columns, count,
              channels, from.data(), channels);
    multiplyInOrder({count, channels, rank}, {from.data(), channels, 1},
                    raising.data(), to.data(), rank);
    copyBlock(to.data(), rank, count, rank, out + h * rank, stride);
  }
}

void evaluateFold(const WeightFold &fold, int64_t firstRow, int64_t count,
                  std::span<float> out) {
  if (fold.query.empty()) {
    foldValue(fold, firstRow, count, out.data());
  } else {
    foldKey(fold, firstRow, count, out.data());
  }
}

} // namespace quire
