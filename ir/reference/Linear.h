// Products with weights: lm.linear, each segment of lm.fused_linear, and
// lm.gated_linear. Every output is one dot product over the inputs in
// ascending order, so a row's bits do not depend on the rows beside it.

#ifndef QUIRE_IR_REFERENCE_LINEAR_H
#define QUIRE_IR_REFERENCE_LINEAR_H

#include "ir/reference/Elementwise.h"
#include "ir/reference/Rows.h"

namespace quire::reference {

/// x W^T + bias; `bias` may be null. x: [rows, inputs], W: [outputs, inputs].
Rows linear(const Rows &x, const Weight &weight, const Weight *bias);

/// f(x Wg^T) * (x Wu^T).
Rows gatedLinear(Nonlinearity kind, const Rows &x, const Weight &gate,
                 const Weight &up);

} // namespace quire::reference

#endif
