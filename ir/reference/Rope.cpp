#include "ir/reference/Rope.h"

#include <cmath>

namespace quire::reference {

/// Inverse frequencies of "dynamic" scaling for a sequence of `length` tokens.
static std::vector<float> dynamicFrequencies(const RopeTable &table,
                                             int64_t length) {
  double width = 2.0 * table.inverseFrequency.size();
  double stretch = table.dynamicFactor * length / table.dynamicContext -
                   (table.dynamicFactor - 1);
  double base = table.dynamicBase * std::pow(stretch, width / (width - 2));
  std::vector<float> result(table.inverseFrequency.size());
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = static_cast<float>(1.0 / std::pow(base, 2.0 * i / width));
  }
  return result;
}

Rows ropeTable(const RopeTable &table, std::span<const int32_t> positions) {
  int64_t pairs = table.inverseFrequency.size();
  float amplitude = static_cast<float>(table.amplitude);
  Rows out(positions.size(), 2 * pairs);
  for (int64_t r = 0; r < out.rows; ++r) {
    std::vector<float> frequency(table.inverseFrequency.begin(),
                                 table.inverseFrequency.end());
    if (table.dynamicContext > 0 && positions[r] >= table.dynamicContext) {
      frequency = dynamicFrequencies(table, positions[r] + 1);
    }
    for (int64_t i = 0; i < pairs; ++i) {
      float angle = static_cast<float>(positions[r]) * frequency[i];
      double exact = angle;
      out.row(r)[i] = static_cast<float>(std::cos(exact)) * amplitude;
      out.row(r)[pairs + i] = static_cast<float>(std::sin(exact)) * amplitude;
    }
  }
  return out;
}

Rows rope(const Rows &x, const Rows &table, int64_t headDim, bool interleaved) {
  int64_t half = table.features / 2;
  Rows out = x;
  for (int64_t r = 0; r < x.rows; ++r) {
    std::span<const float> angles = table.row(r);
    for (int64_t head = 0; head < x.features; head += headDim) {
      for (int64_t i = 0; i < half; ++i) {
        int64_t first = head + (interleaved ? 2 * i : i);
        int64_t second = interleaved ? first + 1 : first + half;
        float a = x.row(r)[first];
        float b = x.row(r)[second];
        float cosine = angles[i];
        float sine = angles[half + i];
        out.row(r)[first] = a * cosine - b * sine;
        out.row(r)[second] = b * cosine + a * sine;
      }
    }
  }
  return out;
}

} // namespace quire::reference
