// What a step must read and compute at least, from the manifest: the roof of
// a measured speed.

#ifndef QUIRE_TOOLS_CLI_STEPCOST_H
#define QUIRE_TOOLS_CLI_STEPCOST_H

#include "runtime/engine/manifest.pb.h"
#include "tools/machine/MachineRoof.h"

#include <cstdint>

namespace quire::cli {

/// A step of `rows` rows, `logitRows` of which want logits; `sequences` of
/// them, each with `depth` tokens in the cache.
struct StepShape {
  int64_t rows = 1;
  int64_t logitRows = 1;
  int64_t sequences = 1;
  int64_t depth = 0;
};

struct StepCost {
  int64_t bytes = 0;  // weights once (of experts, those that rows choose), the
                      // cache of every sequence
  double int8Ops = 0; // products with quantised weights
  double f32Ops = 0;  // all others; attention is not counted
};

StepCost stepCost(const manifest::Manifest &manifest, const StepShape &shape);

struct Roof {
  const char *name = "read"; // "read", "int8" or "f32": what binds
  double seconds = 0;        // the least a step can take
};
Roof roofOf(const StepCost &cost, const MachineRoof &machine);

} // namespace quire::cli

#endif
