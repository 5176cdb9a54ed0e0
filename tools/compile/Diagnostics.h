// What the compiler's commands have in common: an MLIR context with Quire's
// dialects, and errors as one sentence each on stderr.

#ifndef QUIRE_TOOLS_COMPILE_DIAGNOSTICS_H
#define QUIRE_TOOLS_COMPILE_DIAGNOSTICS_H

#include "absl/status/status.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/LogicalResult.h"

namespace quire {

/// Loads the dialects and prints errors where they are reported.
void prepareContext(mlir::MLIRContext &context);

/// Prints the error; always a failure.
llvm::LogicalResult reportError(const absl::Status &status);

} // namespace quire

#endif
