// Row-wise arithmetic: lm.add, lm.mul, lm.scale, lm.nonlinearity, lm.softcap,
// lm.sigmoid_gate. Shapes of inputs must agree as the ops say; the caller has
// verified them.

#ifndef QUIRE_IR_REFERENCE_ELEMENTWISE_H
#define QUIRE_IR_REFERENCE_ELEMENTWISE_H

#include "ir/reference/Rows.h"

namespace quire::reference {

Rows add(const Rows &a, const Rows &b);
Rows mul(const Rows &a, const Rows &b);
/// Every row of x times the sigmoid of the gate's one value of that row.
Rows sigmoidGate(const Rows &x, const Rows &gate);
/// x times `by`, which is rounded to f32 first.
Rows scale(const Rows &x, double by);
/// cap * tanh(x / cap).
Rows softcap(const Rows &x, double cap);

enum class Nonlinearity { Silu, GeluTanh, Gelu };
float nonlinearity(Nonlinearity kind, float x);
Rows nonlinearity(Nonlinearity kind, const Rows &x);

} // namespace quire::reference

#endif
