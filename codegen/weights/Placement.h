// Where every packed weight lies in the weight file. Computed from the slots'
// sizes alone, so that code can be emitted before, or while, the weights are
// packed. Immutable; any thread may read it.

#ifndef QUIRE_CODEGEN_WEIGHTS_PLACEMENT_H
#define QUIRE_CODEGEN_WEIGHTS_PLACEMENT_H

#include "ir/rt/Rt.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <vector>

namespace quire {

/// Layer number of a slot that belongs to no layer.
inline constexpr int64_t kNoLayer = -1;

/// Sections (what is outside of layers, then each layer) start on pages.
inline constexpr int64_t kSectionAlignment = 4096;

struct PlacedWeight {
  rt::WeightOp slot;
  int64_t layer; // kNoLayer: not of a layer
  int64_t offset;
  int64_t bytes;
};

class WeightPlacement {
public:
  explicit WeightPlacement(mlir::ModuleOp module);

  /// Ascending offsets without overlap.
  const std::vector<PlacedWeight> &inFileOrder() const { return placed; }
  int64_t fileBytes() const { return bytes; }
  /// Nothing where the slot does not exist in that layer. A slot of no layer
  /// is found from every layer.
  std::optional<int64_t> offsetOf(llvm::StringRef slot, int64_t layer) const;

private:
  void place(rt::WeightOp slot, int64_t layer);

  std::vector<PlacedWeight> placed;
  llvm::DenseMap<std::pair<mlir::StringAttr, int64_t>, int64_t> offsets;
  mlir::MLIRContext *context;
  int64_t bytes = 0;
};

} // namespace quire

#endif
