// f32 rows to the number formats that Quire itself writes: f16 and bf16 by
// rounding, int8 with one scale per row, int4 in groups of 32. The stored
// form is what packStored and the interpreter's dequantisation both read, so
// that there is one quantiser. Pure functions; any thread.

#ifndef QUIRE_CODEGEN_WEIGHTS_QUANTIZEROWS_H
#define QUIRE_CODEGEN_WEIGHTS_QUANTIZEROWS_H

#include "frontends/formats/NumberFormat.h"

#include <cstddef>
#include <span>

namespace quire {

/// True for the formats that quantizeRow writes.
bool canQuantize(NumberFormat format);

/// Writes storedRowBytes(format, row.size()) bytes. int4 needs rows of whole
/// groups of 32.
///   int8   scale = max |x| / 127, code = round(x / scale)
///   int4   scale = -(the value of largest magnitude) / 8, code = round(x /
///          scale) + 8, so that this value is met exactly but for f16
///   int4a  minimum = min x, scale = (max x - min x) / 15
/// Scales and minima of int4 are rounded to f16 first, and codes chosen for
/// the rounded ones.
void quantizeRow(NumberFormat format, std::span<const float> row,
                 std::span<std::byte> stored);

/// The inverse for Int8Row, whose scale is not in a block.
void dequantizeInt8Row(std::span<const std::byte> stored, std::span<float> row);

} // namespace quire

#endif
