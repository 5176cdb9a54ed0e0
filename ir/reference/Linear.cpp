#include "ir/reference/Linear.h"

#include <algorithm>
#include <array>

namespace quire::reference {

// Rows computed side by side, only to keep the adder busy: each has its own
// accumulator and its own order.
static constexpr int64_t kRowsAtOnce = 8;

/// Rows [begin, begin + kRowsAtOnce) as [inputs, kRowsAtOnce] doubles, zero
/// where there is no such row.
static std::vector<double> transposed(const Rows &x, int64_t begin) {
  std::vector<double> block(x.features * kRowsAtOnce, 0.0);
  int64_t count = std::min(kRowsAtOnce, x.rows - begin);
  for (int64_t r = 0; r < count; ++r) {
    std::span<const float> row = x.row(begin + r);
    for (int64_t k = 0; k < x.features; ++k) {
      block[k * kRowsAtOnce + r] = row[k];
    }
  }
  return block;
}

Rows linear(const Rows &x, const Weight &weight, const Weight *bias) {
  Rows out(x.rows, weight.rows());
  for (int64_t begin = 0; begin < x.rows; begin += kRowsAtOnce) {
    std::vector<double> block = transposed(x, begin);
    int64_t count = std::min(kRowsAtOnce, x.rows - begin);
    for (int64_t n = 0; n < weight.rows(); ++n) {
      std::array<double, kRowsAtOnce> sums{};
      std::span<const float> w = weight.row(n);
      for (int64_t k = 0; k < x.features; ++k) {
        for (int64_t r = 0; r < kRowsAtOnce; ++r) {
          sums[r] += block[k * kRowsAtOnce + r] * w[k];
        }
      }
      for (int64_t r = 0; r < count; ++r) {
        float sum = static_cast<float>(sums[r]);
        out.row(begin + r)[n] = bias ? sum + bias->values[n] : sum;
      }
    }
  }
  return out;
}

Rows gatedLinear(Nonlinearity kind, const Rows &x, const Weight &gate,
                 const Weight &up) {
  return mul(nonlinearity(kind, linear(x, gate, nullptr)),
             linear(x, up, nullptr));
}

} // namespace quire::reference
