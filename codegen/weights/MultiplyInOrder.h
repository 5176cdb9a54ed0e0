// The product of two f32 matrices whose bits do not depend on the machine or
// on how it is cut: every element is summed over ascending k, every product
// and every sum rounded to f32. Any thread.

#ifndef QUIRE_CODEGEN_WEIGHTS_MULTIPLYINORDER_H
#define QUIRE_CODEGEN_WEIGHTS_MULTIPLYINORDER_H

#include <cstdint>

namespace quire {

/// a's element (row, k) is at row * rowStep + k * innerStep: a transposed
/// matrix is one with its steps exchanged.
struct LeftMatrix {
  const float *values;
  int64_t rowStep;
  int64_t innerStep;
};

/// [rows, inner] times [inner, columns].
struct ProductShape {
  int64_t rows;
  int64_t inner;
  int64_t columns;
};

/// b: [inner, columns] without gaps; c's rows are `stride` floats apart.
void multiplyInOrder(const ProductShape &shape, const LeftMatrix &a,
                     const float *b, float *c, int64_t stride);

} // namespace quire

#endif
