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

/// A matrix [outputs, inputs], a stack [matrices, outputs, inputs] or a vector
/// [features].
struct Weight {
  std::vector<int64_t> shape;
  std::vector<float> values;

  /// Of a stack: those of all its matrices, one after the other.
  int64_t rows() const {
    return shape.size() == 3 ? shape[0] * shape[1] : shape.front();
  }
  /// Values of one row; 1 for a vector, whose rows are its elements.
  int64_t columns() const { return shape.size() == 1 ? 1 : shape.back(); }
  std::span<const float> row(int64_t i) const {
    return {values.data() + i * columns(), static_cast<size_t>(columns())};
  }
  /// Matrix number `i` of a stack.
  Weight matrix(int64_t i) const {
    int64_t size = shape[1] * shape[2];
    return {{shape[1], shape[2]},
            {values.begin() + i * size, values.begin() + (i + 1) * size}};
  }
};

} // namespace quire::reference

#endif
