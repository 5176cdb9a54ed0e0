// The kernels as native functions, for tests and benchmarks: by ISA level and
// name. Engines do not use these; they contain the same sources as bitcode,
// specialised.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_NATIVEKERNELS_H
#define QUIRE_CODEGEN_CPU_KERNELS_NATIVEKERNELS_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace quire::cpu {

/// `args` points to the kernel's own struct of Args.h.
struct NativeKernel {
  std::string_view name;
  int64_t (*tiles)(const void *args);
  void (*tile)(const void *args, int64_t tile, std::byte *scratch);
};

/// `level` is "portable", "avx2" or "avx512". Null when there is no such
/// kernel.
const NativeKernel *findNativeKernel(std::string_view level,
                                     std::string_view name);

} // namespace quire::cpu

#endif
