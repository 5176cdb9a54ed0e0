#include "passes/WeightSlots.h"

#include "passes/Formats.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace quire {

/// The ops that compute a weight, in order, ending in its own.
static llvm::SetVector<Operation *> expressionOf(Value weight) {
  llvm::SetVector<Operation *> ops;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  (void)getBackwardSlice(weight, &ops, options);
  return ops;
}

/// Whether the weight differs from layer to layer.
static bool isLayered(const llvm::SetVector<Operation *> &ops) {
  return llvm::any_of(ops, [](Operation *op) {
    auto load = dyn_cast<lm::LoadParamOp>(op);
    return load && load.getLayer();
  });
}

static std::string keyOf(const llvm::SetVector<Operation *> &ops,
                         StringRef function) {
  std::string key;
  llvm::raw_string_ostream os(key);
  for (Operation *op : ops) {
    os << op->getName() << op->getAttrDictionary() << op->getResultTypes();
  }
  if (isLayered(ops)) {
    os << " in " << function;
  }
  return key;
}

/// "dense.attn_q.weight" in a layer, "step.embedding.weight" in the step.
static std::string nameOf(const llvm::SetVector<Operation *> &ops,
                          func::FuncOp function) {
  StringRef param = "weight";
  for (Operation *op : ops) {
    if (auto load = dyn_cast<lm::LoadParamOp>(op)) {
      param = load.getParam();
    }
  }
  StringRef suffix = param.ends_with("_bias") ? "" : ".weight";
  return (function.getName() + "." + param + suffix).str();
}

static std::string uniqueName(ModuleOp module, std::string name) {
  std::string result = name;
  for (int i = 2; module.lookupSymbol(result) != nullptr; ++i) {
    result = name + "_" + std::to_string(i);
  }
  return result;
}

FlatSymbolRefAttr WeightSlots::slotFor(Value weight) {
  auto function = weight.getDefiningOp()->getParentOfType<func::FuncOp>();
  llvm::SetVector<Operation *> ops = expressionOf(weight);
  MLIRContext *context = module.getContext();
  auto [known, isNew] =
      byExpression.try_emplace(keyOf(ops, function.getName()));
  if (!isNew) {
    return FlatSymbolRefAttr::get(context, known->second);
  }
  bool layered = isLayered(ops);
  std::vector<int64_t> layers;
  if (layered) {
    layers = layersOf[function.getName().str()];
  }
  known->second = uniqueName(module, nameOf(ops, function));

  auto type = cast<lm::WeightType>(weight.getType());
  StringRef format =
      type.isVector() ? "f32" : lm::stringifyNumberFormat(type.getFormat());
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(module.getBody());
  auto slot =
      rt::WeightOp::create(builder, weight.getLoc(), known->second, format,
                           type.getShape(), packedBytes(type), layers);
  Block *body = builder.createBlock(&slot.getBody());
  IRMapping mapping;
  Value layer = body->addArgument(builder.getIndexType(), weight.getLoc());
  if (layered) {
    mapping.map(function.getArguments().back(), layer);
  }
  for (Operation *op : ops) {
    builder.clone(*op, mapping);
  }
  rt::PackOp::create(builder, weight.getLoc(), mapping.lookup(weight));
  return FlatSymbolRefAttr::get(context, known->second);
}

} // namespace quire
