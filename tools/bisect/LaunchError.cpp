#include "tools/bisect/LaunchError.h"

#include "ir/rt/Layout.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quire::bisect {

using reference::Rows;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Largest of |got - expected| / unit; infinite for a NaN.
double worstOf(std::span<const float> got, std::span<const float> expected,
               double unit) {
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    double difference = std::fabs(double(got[i]) - double(expected[i]));
    if (difference != 0) {
      double error = difference / unit; // infinite where all should be zero
      worst = error <= worst ? worst : std::isnan(error) ? kInfinite : error;
    }
  }
  return worst;
}

double rootMeanSquare(std::span<const float> values) {
  double squares = 0;
  for (float value : values) {
    squares += double(value) * double(value);
  }
  return std::sqrt(squares / double(values.size()));
}

double floatError(const Rows &got, const Rows &expected) {
  double worst = 0;
  for (int64_t r = 0; r < expected.rows; ++r) {
    worst = std::max(worst, worstOf(got.row(r), expected.row(r),
                                    rootMeanSquare(expected.row(r))));
  }
  return worst;
}

double int8Error(const Rows &got, const Rows &expected, int64_t perScale) {
  double worst = 0;
  for (int64_t r = 0; r < expected.rows; ++r) {
    for (int64_t begin = 0; begin < expected.features; begin += perScale) {
      size_t count = size_t(std::min(perScale, expected.features - begin));
      auto group = expected.row(r).subspan(size_t(begin), count);
      float largest = 0;
      for (float value : group) {
        largest = std::max(largest, std::fabs(value));
      }
      worst = std::max(worst, worstOf(got.row(r).subspan(size_t(begin), count),
                                      group, double(largest) / 127));
    }
  }
  return worst;
}

/// Even columns name experts and must agree.
double routeError(const Rows &got, const Rows &expected) {
  for (size_t i = 0; i < expected.values.size(); i += 2) {
    if (got.values[i] != expected.values[i]) {
      return kInfinite;
    }
  }
  Rows weights(got.rows, got.features / 2), wanted = weights;
  for (size_t i = 0; i < weights.values.size(); ++i) {
    weights.values[i] = got.values[2 * i + 1];
    wanted.values[i] = expected.values[2 * i + 1];
  }
  return floatError(weights, wanted);
}

} // namespace

double errorOf(Stored stored, const Rows &got, const Rows &expected) {
  switch (stored) {
  case Stored::Floats:
    return floatError(got, expected);
  case Stored::Int8By32:
    return int8Error(got, expected, layout::kGroup);
  case Stored::Int8By256:
    return int8Error(got, expected, layout::kBlock);
  case Stored::Routes:
    return routeError(got, expected);
  case Stored::Pairs:
    return got.values == expected.values ? 0 : kInfinite;
  }
  return kInfinite;
}

const char *unitOf(Stored stored) {
  bool rounded = stored == Stored::Int8By32 || stored == Stored::Int8By256;
  return rounded ? "steps of rounding" : "root mean squares of its row";
}

double barOf(Stored stored) {
  switch (stored) {
  case Stored::Floats:
  case Stored::Routes:
    return 3e-4; // sums in f32 against sums in double: 2e-5 at most in tests
  case Stored::Int8By32:
  case Stored::Int8By256:
    return 1.01; // a value beside a tie may turn by one step
  case Stored::Pairs:
    return 0;
  }
  return 0;
}

} // namespace quire::bisect
