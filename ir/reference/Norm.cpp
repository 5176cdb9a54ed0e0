#include "ir/reference/Norm.h"

#include <cmath>

namespace quire::reference {

Rows rmsNorm(const Rows &x, const Weight &weight, double epsilon) {
  int64_t width = weight.rows();
  Rows out(x.rows, x.features);
  for (size_t begin = 0; begin < x.values.size(); begin += width) {
    const float *section = x.values.data() + begin;
    double squares = 0;
    for (int64_t i = 0; i < width; ++i) {
      squares += static_cast<double>(section[i]) * section[i];
    }
    double factor = 1.0 / std::sqrt(squares / width + epsilon);
    for (int64_t i = 0; i < width; ++i) {
      out.values[begin + i] =
          static_cast<float>(section[i] * factor) * weight.values[i];
    }
  }
  return out;
}

} // namespace quire::reference
