// What the verifiers of the `lm` ops share.

#ifndef QUIRE_IR_LM_VERIFY_H
#define QUIRE_IR_LM_VERIFY_H

#include "ir/lm/Lm.h"

namespace quire::lm {

/// An error at `op` that also names the model's op where its location does.
mlir::InFlightDiagnostic complain(mlir::Operation *op);

/// One product: weight [outputs, inputs] meets the widths around it, and the
/// bias, if any, is a vector of the outputs.
llvm::LogicalResult verifyProduct(mlir::Operation *op, int64_t inputs,
                                  WeightType weight, WeightType bias,
                                  int64_t outputs);

} // namespace quire::lm

#endif
