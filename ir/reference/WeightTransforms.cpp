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

Weight takeRows(const Weight &weight, int64_t heads, int64_t begin,
                std::vector<int64_t> shape) {
  Weight out{std::move(shape), {}};
  int64_t columns = weight.columns();
  int64_t from = weight.rows() / heads;
  int64_t taken = out.rows() / heads;
  for (int64_t head = 0; head < heads; ++head) {
    auto first = weight.values.begin() + (head * from + begin) * columns;
    out.values.insert(out.values.end(), first, first + taken * columns);
  }
  return out;
}

/// to += x * from, each product rounded before it is added.
static void addScaled(float x, std::span<const float> from, float *to) {
  for (size_t i = 0; i < from.size(); ++i) {
    to[i] += x * from[i];
  }
}

Weight foldKey(const Weight &query, const Weight &key) {
  int64_t heads = key.shape[0], content = key.shape[1], rank = key.shape[2];
  int64_t inputs = query.shape[2];
  Weight out{{heads * rank, inputs}, {}};
  out.values.resize(heads * rank * inputs);
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t c = head * content; c < (head + 1) * content; ++c) {
      for (int64_t r = 0; r < rank; ++r) {
        addScaled(key.row(c)[r], query.row(c),
                  out.values.data() + (head * rank + r) * inputs);
      }
    }
  }
  return out;
}

Weight foldValue(const Weight &product, const Weight &value) {
  int64_t heads = value.shape[0], channels = value.shape[1];
  int64_t rank = value.shape[2];
  Weight out{{product.rows(), heads * rank}, {}};
  out.values.resize(product.rows() * heads * rank);
  for (int64_t n = 0; n < product.rows(); ++n) {
    for (int64_t c = 0; c < heads * channels; ++c) {
      addScaled(product.row(n)[c], value.row(c),
                out.values.data() + n * heads * rank + c / channels * rank);
    }
  }
  return out;
}

} // namespace quire::reference
