#include "ir/reference/Attention.h"

#include <algorithm>
#include <cmath>

namespace quire::reference {

static double score(const AttentionShape &shape, const float *query,
                    const float *key) {
  double sum = 0;
  for (int64_t i = 0; i < shape.keyDim; ++i) {
    sum += static_cast<double>(query[i]) * key[i];
  }
  sum *= shape.scale;
  return shape.softcap > 0 ? shape.softcap * std::tanh(sum / shape.softcap)
                           : sum;
}

/// Scores to probabilities, in place.
static void softmax(std::vector<double> &scores) {
  double highest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double &value : scores) {
    value = std::exp(value - highest);
    sum += value;
  }
  for (double &value : scores) {
    value /= sum;
  }
}

void attendRow(const AttentionShape &shape, const float *query,
               const Visible &visible, float *out) {
  std::fill_n(out, shape.heads * shape.valueDim, 0.0f);
  size_t count = visible.keys.size();
  if (count == 0) {
    return;
  }
  int64_t queriesPerKv = shape.heads / shape.kvHeads;
  std::vector<double> weights(count);
  for (int64_t head = 0; head < shape.heads; ++head) {
    int64_t kvHead = head / queriesPerKv;
    for (size_t i = 0; i < count; ++i) {
      weights[i] = score(shape, query + head * shape.keyDim,
                         visible.keys[i] + kvHead * shape.keyDim);
    }
    softmax(weights);
    std::vector<double> sums(shape.valueDim, 0.0);
    for (size_t i = 0; i < count; ++i) {
      const float *value = visible.values[i] + kvHead * shape.valueDim;
      for (int64_t d = 0; d < shape.valueDim; ++d) {
        sums[d] += weights[i] * value[d];
      }
    }
    for (int64_t d = 0; d < shape.valueDim; ++d) {
      out[head * shape.valueDim + d] = static_cast<float>(sums[d]);
    }
  }
}

} // namespace quire::reference
