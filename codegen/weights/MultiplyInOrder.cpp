#include "codegen/weights/MultiplyInOrder.h"

#include "frontends/formats/Multiversion.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace quire {

namespace {

using F32x16 = float __attribute__((vector_size(64)));

constexpr int64_t kColumns = 16; // of a panel: one vector
// Sums in registers, all of one panel: as many as AVX2 has room for.
constexpr int64_t kRows = 6;

/// One panel of c. `panel`: [inner, kColumns], zeros past the last column.
QUIRE_MULTIVERSION
void multiplyPanel(const ProductShape &shape, const LeftMatrix &a,
                   const float *panel, float *c, int64_t stride) {
  auto bytes = static_cast<size_t>(shape.columns) * sizeof(float);
  for (int64_t first = 0; first < shape.rows; first += kRows) {
    int64_t rows = std::min(kRows, shape.rows - first);
    // Rows that are not there repeat the last and are not stored.
    const float *from[kRows];
    for (int64_t r = 0; r < kRows; ++r) {
      from[r] = a.values + (first + std::min(r, rows - 1)) * a.rowStep;
    }
    F32x16 sum[kRows] = {};
    for (int64_t k = 0; k < shape.inner; ++k) {
      F32x16 b;
      std::memcpy(&b, panel + k * kColumns, sizeof b);
      for (int64_t r = 0; r < kRows; ++r) {
        sum[r] += from[r][k * a.innerStep] * b;
      }
    }
    for (int64_t r = 0; r < rows; ++r) {
      std::memcpy(c + (first + r) * stride, &sum[r], bytes);
    }
  }
}

} // namespace

void multiplyInOrder(const ProductShape &shape, const LeftMatrix &a,
                     const float *b, float *c, int64_t stride) {
  std::vector<float> panel(static_cast<size_t>(shape.inner * kColumns));
  for (int64_t n = 0; n < shape.columns; n += kColumns) {
    // Copied, because rows of b would meet in the same few cache sets.
    int64_t columns = std::min(kColumns, shape.columns - n);
    for (int64_t k = 0; k < shape.inner; ++k) {
      float *to = panel.data() + k * kColumns;
      std::copy_n(b + k * shape.columns + n, columns, to);
      std::fill(to + columns, to + kColumns, 0.0f);
    }
    multiplyPanel({shape.rows, shape.inner, columns}, a, panel.data(), c + n,
                  stride);
  }
}

} // namespace quire
