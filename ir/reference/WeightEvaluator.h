// Evaluates weight expressions (lm.load_param and the ops on its result) to
// f32 values, in one layer at a time, and keeps results within a budget of
// bytes.

#ifndef QUIRE_IR_REFERENCE_WEIGHTEVALUATOR_H
#define QUIRE_IR_REFERENCE_WEIGHTEVALUATOR_H

#include "ir/reference/ParamSource.h"

#include "llvm/ADT/StringMap.h"

#include <memory>

namespace quire::reference {

using WeightPtr = std::shared_ptr<const Weight>;

class WeightEvaluator {
public:
  WeightEvaluator(ParamSource &params, int64_t cacheBytes)
      : params(params), freeBytes(cacheBytes) {}

  /// `layer` stands for the enclosing function's or slot's layer argument. On
  /// failure an error was reported.
  llvm::FailureOr<WeightPtr> evaluate(mlir::Value expression, int64_t layer);

private:
  llvm::FailureOr<Weight> compute(mlir::Operation *op, int64_t layer);

  ParamSource &params;
  int64_t freeBytes;
  llvm::StringMap<WeightPtr> kept; // by expression, parameters and layer
};

} // namespace quire::reference

#endif
