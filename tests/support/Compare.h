// The one comparer of numeric tests. An element is right when it is within
// its tolerance of the expected value, measured against the element's own
// magnitude: for a sum, what its terms' magnitudes add up to, since that is
// what rounding errors grow with. Infinities and NaN must match exactly.
// Besides, the root mean square of all errors must stay below a quarter of
// the tolerance. A failure names the worst element.

#ifndef QUIRE_TESTS_SUPPORT_COMPARE_H
#define QUIRE_TESTS_SUPPORT_COMPARE_H

#include "frontends/formats/NumberFormat.h"

#include "gtest/gtest.h"

#include <span>

namespace quire::test {

struct Expected {
  double value;
  double magnitude;
};

struct Tolerance {
  double relative; // of the magnitude
  double absolute;
};

/// What a kernel over weights of this format may lose against exact
/// arithmetic on the same dequantised inputs.
Tolerance toleranceFor(NumberFormat format);

testing::AssertionResult closeTo(std::span<const float> got,
                                 std::span<const Expected> expected,
                                 Tolerance tolerance);

/// Equal bit for bit, but for the sign of zero and the payload of NaN.
testing::AssertionResult sameBits(std::span<const float> got,
                                  std::span<const float> expected);

} // namespace quire::test

#endif
