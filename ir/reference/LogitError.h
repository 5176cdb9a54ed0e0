// How far logits are from others: the measures the numbers are judged by.

#ifndef QUIRE_IR_REFERENCE_LOGITERROR_H
#define QUIRE_IR_REFERENCE_LOGITERROR_H

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace quire::reference {

struct LogitError {
  double worst = std::numeric_limits<double>::infinity();
  double typical = std::numeric_limits<double>::infinity(); // root mean square
};

/// In standard deviations of all expected logits; infinite where the sizes
/// differ.
inline LogitError logitError(const std::vector<float> &got,
                             const std::vector<float> &expected) {
  if (got.size() != expected.size() || expected.empty()) {
    return {};
  }
  double sum = 0, squares = 0, worst = 0, errors = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    sum += expected[i];
    squares += double(expected[i]) * expected[i];
    double error = std::fabs(double(got[i]) - expected[i]);
    // Not std::max, which would lose a NaN.
    worst = error <= worst ? worst : error;
    errors += error * error;
  }
  double count = double(expected.size());
  double deviation = std::sqrt(squares / count - sum / count * sum / count);
  return {worst / deviation, std::sqrt(errors / count) / deviation};
}

/// Kullback-Leibler divergence of the tokens' distributions from the expected
/// ones, the mean over the rows.
inline double meanDivergence(const std::vector<float> &got,
                             const std::vector<float> &expected,
                             int64_t vocabulary) {
  auto logSum = [&](const float *row) {
    double top = row[0], sum = 0;
    for (int64_t i = 1; i < vocabulary; ++i) {
      top = std::fmax(top, row[i]);
    }
    for (int64_t i = 0; i < vocabulary; ++i) {
      sum += std::exp(row[i] - top);
    }
    return top + std::log(sum);
  };
  double total = 0;
  int64_t rows = int64_t(expected.size()) / vocabulary;
  for (int64_t r = 0; r < rows; ++r) {
    const float *p = &expected[size_t(r * vocabulary)];
    const float *q = &got[size_t(r * vocabulary)];
    double sumP = logSum(p), sumQ = logSum(q);
    for (int64_t i = 0; i < vocabulary; ++i) {
      total += std::exp(p[i] - sumP) * ((p[i] - sumP) - (q[i] - sumQ));
    }
  }
  return total / double(rows);
}

} // namespace quire::reference

#endif
