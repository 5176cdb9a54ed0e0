// What the manifest says about an rt module: programs, buffers, cache groups
// and the weight table.

#ifndef QUIRE_CODEGEN_ENGINE_FILLMANIFEST_H
#define QUIRE_CODEGEN_ENGINE_FILLMANIFEST_H

#include "codegen/cpu/StepPlan.h"
#include "codegen/weights/Placement.h"
#include "runtime/engine/manifest.pb.h"

namespace quire {

/// Fills everything but code, files and what the caller of the compiler knows.
void fillManifest(mlir::ModuleOp module, const StepPlan &plan,
                  const WeightPlacement &placement,
                  manifest::Manifest &manifest);

/// Bytes of scratch a worker needs for any launch of the plan.
int64_t scratchBytes(const StepPlan &plan);

} // namespace quire

#endif
