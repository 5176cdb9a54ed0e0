// Kernels that treat rows one by one share how rows make tiles.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_ROWS_H
#define QUIRE_CODEGEN_CPU_KERNELS_ROWS_H

#include "codegen/cpu/kernels/Simd.h"

namespace QUIRE_KERNEL_NAMESPACE {

/// Few rows are a tile each, for the sake of balance; many go by eight.
QUIRE_INLINE int64_t rowsPerTile(int64_t rows) { return rows <= 16 ? 1 : 8; }

QUIRE_INLINE int64_t rowTiles(int64_t rows) {
  return ceilDivide(rows, rowsPerTile(rows));
}

/// Calls body(row) for each row of a tile.
template <class Body>
QUIRE_INLINE void forRows(int64_t rows, int64_t tile, Body body) {
  const int64_t step = rowsPerTile(rows);
  const int64_t end = minimum(rows, (tile + 1) * step);
  for (int64_t row = tile * step; row < end; ++row) {
    body(row);
  }
}

QUIRE_INLINE void copyRow(const float *from, int64_t features, float *to) {
  for (int64_t i = 0; i < features; i += kLanes) {
    storePart(to + i, loadPart(from + i, features - i), features - i);
  }
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
