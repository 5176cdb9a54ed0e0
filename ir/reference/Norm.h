// lm.rms_norm and the norm half of lm.add_rms_norm.

#ifndef QUIRE_IR_REFERENCE_NORM_H
#define QUIRE_IR_REFERENCE_NORM_H

#include "ir/reference/Rows.h"

namespace quire::reference {

/// Each section of a row, as wide as `weight`, becomes
/// x / sqrt(mean(x^2) + epsilon) * weight (Zhang and Sennrich 2019,
/// arXiv:1910.07467).
Rows rmsNorm(const Rows &x, const Weight &weight, double epsilon);

} // namespace quire::reference

#endif
