// What every kernel source starts with: how its functions are named and in
// which namespace they live. The same sources are compiled to bitcode, once
// per ISA level under plain names, and natively for tests and benchmarks with
// a prefix per level, so that several levels fit in one program. No kernel
// keeps state, allocates, throws or calls a library but libm.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_KERNEL_H
#define QUIRE_CODEGEN_CPU_KERNELS_KERNEL_H

#include "codegen/cpu/kernels/Args.h"
#include "ir/rt/Layout.h"

#ifndef QUIRE_KERNEL_LEVEL
#error "define QUIRE_KERNEL_LEVEL as portable, avx2 or avx512"
#endif

#define QUIRE_JOIN2(a, b) a##_##b
#define QUIRE_JOIN(a, b) QUIRE_JOIN2(a, b)

#ifdef QUIRE_KERNEL_PREFIXED
#define QUIRE_KERNEL(name) QUIRE_JOIN(QUIRE_KERNEL_LEVEL, name)
#else
#define QUIRE_KERNEL(name) name
#endif

/// Code of one ISA level lives in a namespace of its own: an inline function
/// of one level must never stand in for that of another.
#define QUIRE_KERNEL_NAMESPACE quire::cpu::QUIRE_KERNEL_LEVEL

#define QUIRE_INLINE inline __attribute__((always_inline))
/// For bodies that exist once per format, whatever the shapes of its launches
/// (docs/decisions/001-bitcode-microkernels.md).
#ifndef QUIRE_NOINLINE
#define QUIRE_NOINLINE __attribute__((noinline))
#endif

/// Defines the two functions of a kernel from a struct with static members
/// `tiles(args)` and `tile(args, tile, scratch)`.
#define QUIRE_DEFINE_KERNEL(name, Args, Impl)                                  \
  extern "C" int64_t QUIRE_KERNEL(name##_tiles)(const Args *args) {            \
    return Impl::tiles(*args);                                                 \
  }                                                                            \
  extern "C" void QUIRE_KERNEL(name##_tile)(const Args *args, int64_t tile,    \
                                            std::byte *scratch) {              \
    Impl::tile(*args, tile, scratch);                                          \
  }

namespace QUIRE_KERNEL_NAMESPACE {

QUIRE_INLINE int64_t rowCount(const QuireStep *step, int64_t rowSet) {
  if (rowSet > kPairRows) {
    return (rowSet - kPairRows) * step->batch->rows;
  }
  switch (rowSet) {
  case kLogitRows:
    return step->batch->logitRows;
  case kLatentRows:
  case kMaterialisedRows:
    return step->batch->formRows[rowSet - kLatentRows];
  default:
    return step->batch->rows;
  }
}

QUIRE_INLINE int64_t ceilDivide(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

QUIRE_INLINE int64_t minimum(int64_t a, int64_t b) { return a < b ? a : b; }
QUIRE_INLINE int64_t maximum(int64_t a, int64_t b) { return a > b ? a : b; }

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
