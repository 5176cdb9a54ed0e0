// One op at a time: the kernel it becomes and the arguments of the launch
// part. What is common to all of a module's ops is in LoweringScope.

#ifndef QUIRE_PASSES_LOWEROPS_H
#define QUIRE_PASSES_LOWEROPS_H

#include "passes/Passes.h"
#include "passes/WeightSlots.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace quire {

/// Buffers by value, weight slots and cache groups, while a module is lowered.
class LoweringScope {
public:
  LoweringScope(mlir::ModuleOp module, int64_t maxRows, int64_t maxLogitRows)
      : module(module), slots(module), maxRows(maxRows),
        maxLogitRows(maxLogitRows) {}

  /// The buffer that holds `value`; made on first use, named after the model's
  /// op.
  mlir::FlatSymbolRefAttr bufferOf(mlir::Value value);
  void setBuffer(mlir::Value value, mlir::FlatSymbolRefAttr buffer) {
    buffers[value] = buffer;
  }
  mlir::FlatSymbolRefAttr createBuffer(llvm::StringRef name, mlir::Type type,
                                       int64_t rowSet);
  /// Which rows the value holds, as kernels are told (ir/rt/KernelTable.h).
  int64_t rowSetOf(mlir::Value value) const;

  /// Number of the group among the module's groups.
  int64_t groupNumber(llvm::StringRef name);
  lm::CacheGroupOp group(llvm::StringRef name);

  mlir::ModuleOp module;
  WeightSlots slots;

private:
  int64_t maxRows;
  int64_t maxLogitRows;
  llvm::DenseMap<mlir::Value, mlir::FlatSymbolRefAttr> buffers;
};

/// Ops that only describe (weights, caches) have no launch.
bool hasLaunch(mlir::Operation *op);

/// A norm that also rounds its result: the quantize op is then part of it.
lm::QuantizeActivationOp roundingOf(mlir::Operation *norm);

/// The parts that `op` becomes (several for a fused product). Null attributes
/// never occur; an op without a lowering is a located error.
mlir::LogicalResult lowerOp(mlir::Operation *op, LoweringScope &scope,
                            llvm::SmallVectorImpl<mlir::Attribute> &parts);

/// A part from a kernel's name and its arguments.
mlir::Attribute makePart(mlir::MLIRContext *context, llvm::StringRef kernel,
                         llvm::ArrayRef<mlir::NamedAttribute> args);

} // namespace quire

#endif
