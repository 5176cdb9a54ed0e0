// The kernels as LLVM bitcode, one module per ISA level, inside the compiler.
// Code generation parses a module, links it beside the functions it made and
// lets LLVM inline and specialise. Constant data; any thread.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_KERNELBITCODE_H
#define QUIRE_CODEGEN_CPU_KERNELS_KERNELBITCODE_H

#include <cstddef>
#include <span>
#include <string_view>

namespace quire::cpu {

/// `level` is "portable", "avx2" or "avx512"; empty for any other.
std::span<const std::byte> kernelBitcode(std::string_view level);

} // namespace quire::cpu

#endif
