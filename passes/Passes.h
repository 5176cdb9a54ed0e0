// The passes of the pipeline, as MLIR passes. See Passes.td for what each
// does; Pipeline.h puts them in order.

#ifndef QUIRE_PASSES_PASSES_H
#define QUIRE_PASSES_PASSES_H

#include "ir/lm/Lm.h"
#include "ir/rt/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace quire {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace quire

#endif
