// Stored values to f32 and back: one function per direction for every number
// format, plain and slow enough to be the reference that kernels and packers
// are judged by. Pure functions; any thread.

#ifndef QUIRE_FRONTENDS_FORMATS_DEQUANTIZE_H
#define QUIRE_FRONTENDS_FORMATS_DEQUANTIZE_H

#include "frontends/formats/NumberFormat.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace quire {

/// Decodes `out.size()` values that start at a block border. `bytes` must hold
/// exactly their blocks. Not for Int8Row (its scale is not in the stream).
/// GGML formats give the bits of llama.cpp's own conversion.
void dequantize(NumberFormat format, std::span<const std::byte> bytes,
                std::span<float> out);

float halfToFloat(uint16_t bits);
uint16_t floatToHalf(float value); // round to nearest even
float bfloat16ToFloat(uint16_t bits);
uint16_t floatToBfloat16(float value); // round to nearest even, NaN kept
float float8E4M3ToFloat(uint8_t bits); // the finite-only form: no infinities
float float8E5M2ToFloat(uint8_t bits);

} // namespace quire

#endif
