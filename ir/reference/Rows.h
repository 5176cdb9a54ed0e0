// The two values that reference functions work on: rows of activations and
// weights, both plain f32. A product input that was rounded to int8 is held
// here as the f32 values it stands for.

#ifndef QUIRE_IR_REFERENCE_ROWS_H
#define QUIRE_IR_REFERENCE_ROWS_H

#include <cstdint>
#include <span>
#include <vector>

namespace quire::reference {

/// [rows, features], row after row.
struct Rows {
  int64_t rows = 0;
  int64_t features = 0;
  std::vector<float> values;

  Rows() = default;
  Rows(int64_t rows, int64_t features)
      : rows(rows), features(features), values(rows * features) {}

  std::span<float> row(int64_t i) {
    return {values.data() + i * features, static_cast<size_t>(features)};
  }
  std::span<const float> row(int64_t i) const {
    return {values.data() + i * features, static_cast<size_t>(features)};
  }
};

/// A matrix [outputs, inputs] or a vector [features].
struct Weight {
  std::vector<int64_t> shape;
  std::vector<float> values;

  int64_t rows() const { return shape.front(); }
  /// Values of one row; 1 for a vector, whose rows are its elements.
  int64_t columns() const { return shape.size() == 1 ? 1 : shape.back(); }
  std::span<const float> row(int64_t i) const {
    return {values.data() + i * columns(), static_cast<size_t>(columns())};
  }
};

} // namespace quire::reference

#endif
