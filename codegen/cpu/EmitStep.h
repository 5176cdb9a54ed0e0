// The rt module as LLVM IR: `quire_step`, which walks the launches, barriers
// and the layer loop, and the tables it walks by. One function per sequence,
// whatever the number of layers: the loop runs over a constant table of
// (sequence, layer), and a layer's weights are found through a constant table
// of offsets. Hot kernels and generated functions are declared only;
// CompileCode links them in.

#ifndef QUIRE_CODEGEN_CPU_EMITSTEP_H
#define QUIRE_CODEGEN_CPU_EMITSTEP_H

#include "codegen/cpu/StepPlan.h"
#include "codegen/weights/Placement.h"

#include "llvm/IR/Module.h"

namespace quire {

/// Fills the empty module `target`. Diagnostics name the rt op.
mlir::LogicalResult emitStep(mlir::ModuleOp module, const StepPlan &plan,
                             const WeightPlacement &placement,
                             llvm::Module &target);

} // namespace quire

#endif
