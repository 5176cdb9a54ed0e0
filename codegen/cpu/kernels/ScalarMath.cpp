// quire_<function>: what generated loops call for one value. They are inlined
// there and vectorised with the loop.

#include "codegen/cpu/kernels/Math.h"

#define QUIRE_SCALAR_FUNCTION(name, function)                                  \
  extern "C" float QUIRE_KERNEL(quire_##name)(float x) {                       \
    return QUIRE_KERNEL_NAMESPACE::function(x);                                \
  }

QUIRE_SCALAR_FUNCTION(exp, exp)
QUIRE_SCALAR_FUNCTION(tanh, tanh)
QUIRE_SCALAR_FUNCTION(sigmoid, sigmoid)
QUIRE_SCALAR_FUNCTION(silu, silu)
QUIRE_SCALAR_FUNCTION(gelu_tanh, geluTanh)
QUIRE_SCALAR_FUNCTION(gelu, gelu)
