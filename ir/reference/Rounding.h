// How values are rounded when they are stored in fewer bits: activations for
// quantised products, weights in Quire's own formats, cache entries. All
// functions give the f32 values that the stored ones stand for.

#ifndef QUIRE_IR_REFERENCE_ROUNDING_H
#define QUIRE_IR_REFERENCE_ROUNDING_H

#include "frontends/formats/NumberFormat.h"
#include "ir/reference/Rows.h"

namespace quire::reference {

/// lm.quantize_activation: signed 8-bit integers with an f32 scale per group
/// of a row, by the formula of !lm.activation, step by step in f32.
Rows quantizeActivation(const Rows &x, int64_t group);

/// True where weights can be rounded to `format`: f32, f16, bf16, int8, int4,
/// int4a. (The GGML block formats are only read.)
bool canRoundTo(NumberFormat format);

/// lm.convert_weight to a format that canRoundTo.
Weight roundWeight(const Weight &weight, NumberFormat format);

/// One value stored as f32, f16 or bf16.
float roundValue(float value, NumberFormat format);

} // namespace quire::reference

#endif
