// The table of a step's (row, expert) pairs as kernels read it; its layout is
// in ir/rt/Layout.h.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_PAIRS_H
#define QUIRE_CODEGEN_CPU_KERNELS_PAIRS_H

#include "codegen/cpu/kernels/Kernel.h"

namespace QUIRE_KERNEL_NAMESPACE {

/// Int is int32_t or const int32_t.
template <class Int> struct Pairs {
  Int *touched; // how many experts have pairs
  Int *expert;  // [touched] ascending
  Int *begin;   // [touched + 1]
  Int *next;    // [experts]
  Int *row;     // [pairs]
  Int *pair;    // [rows, top]
  layout::PairTable shape;
};

template <class Int>
QUIRE_INLINE Pairs<Int> pairsAt(Int *table, const QuireStep *step,
                                int64_t experts, int64_t top) {
  const layout::PairTable shape = {experts, step->batch->rows, top};
  return {table,
          table + shape.expertAt(),
          table + shape.beginAt(),
          table + shape.nextAt(),
          table + shape.rowAt(),
          table + shape.pairAt(),
          shape};
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
