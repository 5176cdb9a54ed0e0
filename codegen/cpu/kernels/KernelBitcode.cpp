#include "codegen/cpu/kernels/KernelBitcode.h"

// The build passes the paths of the three modules.
#define QUIRE_EMBED_FILE(symbol, path)                                         \
  asm(".section .rodata\n"                                                     \
      ".balign 16\n"                                                           \
      ".global " #symbol "_begin\n" #symbol "_begin:\n"                        \
      ".incbin \"" path "\"\n"                                                 \
      ".global " #symbol "_end\n" #symbol "_end:\n"                            \
      ".byte 0\n"                                                              \
      ".text\n");                                                              \
  extern "C" const std::byte symbol##_begin[];                                 \
  extern "C" const std::byte symbol##_end[];

QUIRE_EMBED_FILE(quire_kernels_portable, QUIRE_BITCODE_PORTABLE)
QUIRE_EMBED_FILE(quire_kernels_avx2, QUIRE_BITCODE_AVX2)
QUIRE_EMBED_FILE(quire_kernels_avx512, QUIRE_BITCODE_AVX512)

namespace quire::cpu {

std::span<const std::byte> kernelBitcode(std::string_view level) {
  if (level == "avx512") {
    return {quire_kernels_avx512_begin, quire_kernels_avx512_end};
  }
  if (level == "avx2") {
    return {quire_kernels_avx2_begin, quire_kernels_avx2_end};
  }
  if (level == "portable") {
    return {quire_kernels_portable_begin, quire_kernels_portable_end};
  }
  return {};
}

} // namespace quire::cpu
