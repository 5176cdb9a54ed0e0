// Row-wise `lm` ops as linalg on tensors, one linalg.generic each; fusing them
// is somebody else's work (Elementwise.h).

#ifndef QUIRE_CODEGEN_CPU_LOWERELEMENTWISE_H
#define QUIRE_CODEGEN_CPU_LOWERELEMENTWISE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace quire {

/// Rewrites every `lm` op of the function. Functions of one f32 that linalg
/// has no op for (silu, tanh, ...) become calls of quire_<name>, which the
/// kernels' bitcode defines, so that there is one of each in an engine.
mlir::LogicalResult lowerElementwiseToLinalg(mlir::func::FuncOp function);

} // namespace quire

#endif
