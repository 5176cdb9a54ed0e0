#include "ir/reference/WeightTransforms.h"

#include <algorithm>

namespace quire::reference {

Weight unpermuteRotary(const Weight &weight, int64_t headDim) {
  Weight out = weight;
  for (int64_t head = 0; head < weight.rows(); head += headDim) {
    for (int64_t i = 0; i < headDim / 2; ++i) {
      for (int64_t j = 0; j < 2; ++j) {
        std::span<const float> from = weight.row(head + 2 * i + j);
        int64_t to = head + j * (headDim / 2) + i;
        std::copy(from.begin(), from.end(),
                  out.values.begin() + to * weight.columns());
      }
    }
  }
  return out;
}

Weight affineWeight(const Weight &weight, double scale, double offset) {
  Weight out = weight;
  for (float &value : out.values) {
    value = value * static_cast<float>(scale) + static_cast<float>(offset);
  }
  return out;
}

} // namespace quire::reference
