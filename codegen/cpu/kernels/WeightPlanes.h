// How the bits of 16 outputs x 32 values of a packed weight turn into eight
// lines of bytes. In line j, byte b of lane n is value 4j + b of output n, as
// dotBytes wants it. A nibble plane keeps lines 0-3 in its low nibbles and
// 4-7 in its high ones; a two-bit plane keeps lines 0-3 in its first 64
// bytes, line j at bit 2j, and lines 4-7 in its second; a one-bit plane keeps
// line j at bit j. codegen/weights/PackPlanes.h writes what this reads.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_WEIGHTPLANES_H
#define QUIRE_CODEGEN_CPU_KERNELS_WEIGHTPLANES_H

#include "codegen/cpu/kernels/Simd.h"

namespace QUIRE_KERNEL_NAMESPACE {

struct Lines {
  U32x16 line[8];
};

QUIRE_INLINE Lines nibbleLines(const std::byte *plane) {
  Lines lines;
  for (int j = 0; j < 4; ++j) {
    const U32x16 both = loadAligned<U32x16>(plane + 64 * j);
    lines.line[j] = both & 0x0f0f0f0fu;
    lines.line[j + 4] = (both >> 4) & 0x0f0f0f0fu;
  }
  return lines;
}

QUIRE_INLINE Lines byteLines(const std::byte *plane) {
  Lines lines;
  for (int j = 0; j < 8; ++j) {
    lines.line[j] = loadAligned<U32x16>(plane + 64 * j);
  }
  return lines;
}

/// Moves bit `from` of every byte to bit `to`; the caller masks.
template <int from, int to> QUIRE_INLINE U32x16 moveBits(U32x16 v) {
  if constexpr (from > to) {
    return v >> (from - to);
  } else {
    return v << (to - from);
  }
}

/// Adds a one-bit plane as bit `at` of every value.
template <int at>
QUIRE_INLINE void addBitPlane(Lines &lines, const std::byte *plane) {
  const U32x16 bits = loadAligned<U32x16>(plane);
  const uint32_t mask = 0x01010101u << at;
  lines.line[0] |= moveBits<0, at>(bits) & mask;
  lines.line[1] |= moveBits<1, at>(bits) & mask;
  lines.line[2] |= moveBits<2, at>(bits) & mask;
  lines.line[3] |= moveBits<3, at>(bits) & mask;
  lines.line[4] |= moveBits<4, at>(bits) & mask;
  lines.line[5] |= moveBits<5, at>(bits) & mask;
  lines.line[6] |= moveBits<6, at>(bits) & mask;
  lines.line[7] |= moveBits<7, at>(bits) & mask;
}

/// Adds a two-bit plane as bits `at` and `at + 1` of every value.
template <int at>
QUIRE_INLINE void addTwoBitPlane(Lines &lines, const std::byte *plane) {
  const uint32_t mask = 0x03030303u << at;
  for (int half = 0; half < 2; ++half) {
    const U32x16 bits = loadAligned<U32x16>(plane + 64 * half);
    U32x16 *line = lines.line + 4 * half;
    line[0] |= moveBits<0, at>(bits) & mask;
    line[1] |= moveBits<2, at>(bits) & mask;
    line[2] |= moveBits<4, at>(bits) & mask;
    line[3] |= moveBits<6, at>(bits) & mask;
  }
}

/// 16 f16 numbers.
QUIRE_INLINE F32x16 loadHalves(const std::byte *p) {
  return fromHalf(load<U16x16>(p));
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
