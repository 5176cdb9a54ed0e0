#include "tests/support/Compare.h"

#include <algorithm>
#include <cmath>

namespace quire::test {

Tolerance toleranceFor(NumberFormat format) {
  switch (format) {
  case NumberFormat::F32:
  case NumberFormat::F16:
  case NumberFormat::BF16:
    // One rounding per term of chains of 64, and per chain.
    return {3e-6, 1e-30};
  default:
    // Integer dot products are exact; a few roundings per block remain.
    return {1e-6, 1e-30};
  }
}

testing::AssertionResult closeTo(std::span<const float> got,
                                 std::span<const Expected> expected,
                                 Tolerance tolerance) {
  if (got.size() != expected.size()) {
    return testing::AssertionFailure()
           << got.size() << " elements, expected " << expected.size();
  }
  double worst = 0.0, squares = 0.0;
  size_t at = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double want = expected[i].value;
    double share = 0.0; // of what is allowed
    if (std::isnan(want) || std::isinf(want)) {
      const bool same = std::isnan(want) ? std::isnan(got[i])
                                         : static_cast<double>(got[i]) == want;
      share = same ? 0.0 : HUGE_VAL;
    } else if (!std::isfinite(got[i])) {
      share = HUGE_VAL;
    } else {
      const double allowed =
          tolerance.relative * expected[i].magnitude + tolerance.absolute;
      share = std::fabs(static_cast<double>(got[i]) - want) / allowed;
    }
    squares += share * share;
    if (share > worst) {
      worst = share;
      at = i;
    }
  }
  const double spread =
      std::sqrt(squares / static_cast<double>(std::max<size_t>(got.size(), 1)));
  if (worst <= 1.0 && spread <= 0.25) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure()
         << "element " << at << " is " << got[at] << ", expected "
         << expected[at].value << ": " << worst
         << " times the allowed error; root mean square " << spread;
}

testing::AssertionResult sameBits(std::span<const float> got,
                                  std::span<const float> expected) {
  if (got.size() != expected.size()) {
    return testing::AssertionFailure()
           << got.size() << " elements, expected " << expected.size();
  }
  size_t different = 0, first = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const bool same = got[i] == expected[i] ||
                      (std::isnan(got[i]) && std::isnan(expected[i]));
    if (!same && different++ == 0) {
      first = i;
    }
  }
  if (different == 0) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure()
         << different << " of " << got.size() << " elements differ, first "
         << first << ": " << got[first] << ", expected " << expected[first];
}

} // namespace quire::test
