// Weight values become slots: `rt.weight` ops that hold the expression and the
// packed size. Equal expressions share a slot (a tied head reads the
// embedding's).

#ifndef QUIRE_PASSES_WEIGHTSLOTS_H
#define QUIRE_PASSES_WEIGHTSLOTS_H

#include "passes/Passes.h"

#include <map>
#include <string>

namespace quire {

class WeightSlots {
public:
  explicit WeightSlots(mlir::ModuleOp module) : module(module) {}

  /// Layers that `function` runs for; empty for the step.
  void setLayers(mlir::func::FuncOp function, std::vector<int64_t> layers) {
    layersOf[function.getName().str()] = std::move(layers);
  }

  /// The slot of `weight`, written on first use.
  mlir::FlatSymbolRefAttr slotFor(mlir::Value weight);

private:
  mlir::ModuleOp module;
  std::map<std::string, std::vector<int64_t>> layersOf;
  std::map<std::string, std::string> byExpression;
};

} // namespace quire

#endif
