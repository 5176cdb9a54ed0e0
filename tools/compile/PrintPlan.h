// The memory of a lowered model as a table: what an engine would hold, without
// writing one.

#ifndef QUIRE_TOOLS_COMPILE_PRINTPLAN_H
#define QUIRE_TOOLS_COMPILE_PRINTPLAN_H

#include "mlir/IR/BuiltinOps.h"

namespace quire {

/// Prints owner, bytes and formula of every part of the memory of an `rt`
/// module, and the cache's bytes per token and for `context` tokens.
void printPlan(mlir::ModuleOp rtModule, int64_t context,
               llvm::raw_ostream &os);

} // namespace quire

#endif
