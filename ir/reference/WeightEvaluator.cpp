#include "ir/reference/WeightEvaluator.h"

#include "ir/reference/Rounding.h"
#include "ir/reference/WeightTransforms.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace quire::reference {

/// The layer that a load names: the enclosing layer where the index is an
/// argument, else the constant.
static int64_t layerOf(lm::LoadParamOp load, int64_t layer) {
  APInt constant;
  if (load.getLayer() &&
      matchPattern(load.getLayer(), m_ConstantInt(&constant))) {
    return constant.getSExtValue();
  }
  return load.getLayer() ? layer : -1;
}

/// Spells an expression out, so that equal ones in different functions share
/// one entry.
static void writeKey(llvm::raw_ostream &out, Operation *op, int64_t layer) {
  out << op->getName() << op->getAttrDictionary() << op->getResultTypes();
  if (auto load = dyn_cast<lm::LoadParamOp>(op)) {
    out << '@' << layerOf(load, layer);
    return;
  }
  out << '(';
  for (Value operand : op->getOperands()) {
    if (Operation *inner = operand.getDefiningOp()) {
      writeKey(out, inner, layer);
    }
  }
  out << ')';
}

FailureOr<WeightPtr> WeightEvaluator::evaluate(Value expression,
                                               int64_t layer) {
  Operation *op = expression.getDefiningOp();
  if (!op) {
    emitError(expression.getLoc()) << "a weight must be an expression over "
                                      "lm.load_param, not an argument";
    return failure();
  }
  std::string key;
  llvm::raw_string_ostream out(key);
  writeKey(out, op, layer);
  if (auto found = kept.find(key); found != kept.end()) {
    return found->second;
  }
  FailureOr<Weight> weight = compute(op, layer);
  if (failed(weight)) {
    return failure();
  }
  auto result = std::make_shared<const Weight>(std::move(*weight));
  int64_t bytes = result->values.size() * sizeof(float);
  if (bytes <= freeBytes) {
    freeBytes -= bytes;
    kept[key] = result;
  }
  return WeightPtr(result);
}

FailureOr<Weight> WeightEvaluator::compute(Operation *op, int64_t layer) {
  if (auto load = dyn_cast<lm::LoadParamOp>(op)) {
    auto param = SymbolTable::lookupNearestSymbolFrom<lm::ParamOp>(
        op, load.getParamAttr());
    return params.load(param, layerOf(load, layer));
  }
  SmallVector<Weight, 2> inputs;
  for (Value operand : op->getOperands()) {
    if (!operand.getDefiningOp()) {
      op->emitError() << "is no weight expression the reference knows";
      return failure();
    }
    FailureOr<Weight> input = compute(operand.getDefiningOp(), layer);
    if (failed(input)) {
      return failure();
    }
    inputs.push_back(std::move(*input));
  }
  return llvm::TypeSwitch<Operation *, FailureOr<Weight>>(op)
      .Case([&](lm::UnpermuteRotaryOp unpermute) -> FailureOr<Weight> {
        return unpermuteRotary(inputs.front(), unpermute.getHeadDim());
      })
      .Case([&](lm::AffineWeightOp affine) -> FailureOr<Weight> {
        return affineWeight(inputs.front(), affine.getScale().convertToDouble(),
                            affine.getOffset().convertToDouble());
      })
      .Case([&](lm::TakeRowsOp take) -> FailureOr<Weight> {
        return takeRows(inputs.front(), take.getHeads(), take.getBegin(),
                        take.getOutput().getType().getShape().vec());
      })
      .Case([&](lm::FoldKeyOp) -> FailureOr<Weight> {
        return foldKey(inputs[0], inputs[1]);
      })
      .Case([&](lm::FoldValueOp) -> FailureOr<Weight> {
        return foldValue(inputs[0], inputs[1]);
      })
      .Case([&](lm::ConvertWeightOp convert) -> FailureOr<Weight> {
        lm::NumberFormat to = convert.getOutput().getType().getFormat();
        if (to == convert.getInput().getType().getFormat()) {
          return std::move(inputs.front());
        }
        auto format = parseNumberFormat(lm::stringifyNumberFormat(to));
        if (!format || !canRoundTo(*format)) {
          convert.emitError()
              << "weights are not rounded to " << lm::stringifyNumberFormat(to);
          return failure();
        }
        return roundWeight(inputs.front(), *format);
      })
      .Default([](Operation *other) -> FailureOr<Weight> {
        other->emitError() << "is no weight expression the reference knows";
        return failure();
      });
}

} // namespace quire::reference
