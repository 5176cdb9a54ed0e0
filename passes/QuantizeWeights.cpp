#include "passes/Explain.h"
#include "passes/Passes.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace quire {
#define GEN_PASS_DEF_QUANTIZEWEIGHTS
#include "passes/Passes.h.inc"

namespace {

/// Weight operands of products and embeddings that are matrices.
llvm::SmallVector<OpOperand *> matrixUses(ModuleOp module) {
  llvm::SmallVector<OpOperand *> uses;
  module.walk([&](Operation *op) {
    if (!isa<lm::LinearOp, lm::FusedLinearOp, lm::GatedLinearOp, lm::EmbedOp>(
            op)) {
      return;
    }
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<lm::WeightType>(operand.get().getType());
      if (type && !type.isVector()) {
        uses.push_back(&operand);
      }
    }
  });
  return uses;
}

/// The embedding and the head decide single tokens and are read by row.
bool isVocabulary(lm::WeightType type, ModuleOp module) {
  bool result = false;
  module.walk([&](lm::EmbedOp embed) {
    result |= cast<lm::WeightType>(embed.getWeight().getType()).getRows() ==
              type.getRows();
  });
  return result;
}

struct QuantizeWeights : impl::QuantizeWeightsBase<QuantizeWeights> {
  using QuantizeWeightsBase::QuantizeWeightsBase;

  lm::NumberFormat formatFor(lm::WeightType type) {
    lm::NumberFormat wanted = *lm::symbolizeNumberFormat(to);
    bool fourBit = wanted == lm::NumberFormat::Int4Sym ||
                   wanted == lm::NumberFormat::Int4Asym;
    // Integer products take activations in whole groups of 32.
    if ((fourBit || wanted == lm::NumberFormat::Int8Row) &&
        type.getColumns() % 32 != 0) {
      return lm::NumberFormat::BF16;
    }
    return fourBit && isVocabulary(type, getOperation())
               ? lm::NumberFormat::Int8Row
               : wanted;
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (to == "keep") {
      return explain(module, getArgument(),
                     "keep: the checkpoint's own formats");
    }
    if (!llvm::is_contained({"f32", "bf16", "int8", "int4", "int4a"}, to)) {
      emitError(module.getLoc())
          << "weight format '" << to
          << "' is not supported; use keep, f32, bf16, int8, int4 or int4a";
      return signalPassFailure();
    }
    llvm::MapVector<Value, Value> converted;
    llvm::MapVector<StringRef, int64_t> counts;
    for (OpOperand *use : matrixUses(module)) {
      Value weight = use->get();
      auto type = cast<lm::WeightType>(weight.getType());
      lm::NumberFormat format = formatFor(type);
      if (format == type.getFormat()) {
        continue;
      }
      Value &result = converted[weight];
      if (!result) {
        OpBuilder builder(&getContext());
        builder.setInsertionPointAfterValue(weight);
        auto newType =
            lm::WeightType::get(&getContext(), type.getShape(), format);
        result = lm::ConvertWeightOp::create(builder, weight.getLoc(), newType,
                                             weight);
        ++counts[lm::stringifyNumberFormat(format)];
      }
      use->set(result);
    }
    for (auto [format, count] : counts) {
      explain(module, getArgument(),
              llvm::Twine(count) + " weight(s) become " + format);
    }
  }
};

} // namespace
} // namespace quire
