// What passes decided and why, kept in the module itself (attribute
// `quire.explain`), so that `--explain` can be printed again from dumped IR.

#ifndef QUIRE_PASSES_EXPLAIN_H
#define QUIRE_PASSES_EXPLAIN_H

#include "frontends/formats/Counted.h"

#include "mlir/IR/BuiltinOps.h"

namespace quire {

/// Appends "pass: text".
void explain(mlir::ModuleOp module, llvm::StringRef pass,
             const llvm::Twine &text);

/// Prints every line noted so far.
void printExplanations(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace quire

#endif
