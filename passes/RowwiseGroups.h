// Row-wise arithmetic that hangs together: which ops become one generated
// function, so that linalg can make one loop of them.

#ifndef QUIRE_PASSES_ROWWISEGROUPS_H
#define QUIRE_PASSES_ROWWISEGROUPS_H

#include "passes/Passes.h"

#include "llvm/ADT/SmallVector.h"

namespace quire {

/// add, mul, scale, nonlinearity, softcap, rope: each row by itself.
bool isRowwise(mlir::Operation *op);

/// Ops of one block that go into one function, in program order; the values
/// they take from outside and those that are read outside.
struct RowwiseGroup {
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::Value> outputs;
};

/// Groups the row-wise ops of a block: an op joins its producer's group unless
/// another of its operands depends on that group through some other op.
llvm::SmallVector<RowwiseGroup> groupRowwise(mlir::Block &block);

/// Writes the group as a private function of the module, or finds an equal
/// one written before; returns its name, "fused_<n>".
std::string outlineRowwise(mlir::ModuleOp module, const RowwiseGroup &group);

} // namespace quire

#endif
