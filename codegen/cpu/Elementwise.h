// What is not a hot kernel: functions fused_<n> of row-wise `lm` ops become
// linalg on tensors, fused, written straight into their results' buffers as
// loops over rows and features, and then LLVM IR. LLVM vectorises the loops
// over features: bodies have no reductions, so the vector width changes no
// value.

#ifndef QUIRE_CODEGEN_CPU_ELEMENTWISE_H
#define QUIRE_CODEGEN_CPU_ELEMENTWISE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/IR/Module.h"

#include <memory>

namespace quire {

/// The generated functions of `module` alone, as loops over buffers: function
/// (inputs..., outputs...) of memref<?xFxf32>.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
lowerElementwiseToLoops(mlir::ModuleOp module);

/// The same as LLVM IR in `context`; null when the module has no generated
/// functions. A tensor is a memref descriptor spread over seven arguments.
mlir::FailureOr<std::unique_ptr<llvm::Module>>
compileElementwise(mlir::ModuleOp module, llvm::LLVMContext &context);

} // namespace quire

#endif
