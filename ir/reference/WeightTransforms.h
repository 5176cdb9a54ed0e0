// lm.unpermute_rotary and lm.affine_weight. (lm.convert_weight is in
// Rounding.h.)

#ifndef QUIRE_IR_REFERENCE_WEIGHTTRANSFORMS_H
#define QUIRE_IR_REFERENCE_WEIGHTTRANSFORMS_H

#include "ir/reference/Rows.h"

namespace quire::reference {

/// Row 2i + j of a head (j in {0, 1}) becomes row j * (headDim / 2) + i.
Weight unpermuteRotary(const Weight &weight, int64_t headDim);

/// weight * scale + offset, in f32.
Weight affineWeight(const Weight &weight, double scale, double offset);

} // namespace quire::reference

#endif
