#include "passes/Explain.h"
#include "passes/Formats.h"
#include "passes/Passes.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace quire {
#define GEN_PASS_DEF_QUANTIZEWEIGHTS
#include "passes/Passes.h.inc"

namespace {

/// Weight operands of products and embeddings that are matrices or stacks.
llvm::SmallVector<OpOperand *> matrixUses(ModuleOp module) {
  llvm::SmallVector<OpOperand *> uses;
  module.walk([&](Operation *op) {
    if (!isa<lm::LinearOp, lm::FusedLinearOp, lm::GatedLinearOp, lm::EmbedOp,
             lm::ExpertLinearOp, lm::ExpertGatedLinearOp, lm::HeadLinearOp,
             lm::LatentAttentionOp, lm::PagedLatentAttentionOp>(op)) {
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

/// Whether the weight's product decides who computes a row, or how much of it
/// counts: the scores of a router and the gate of a shared expert.
bool isScore(OpOperand &use) {
  Operation *op = use.getOwner();
  if (!isa<lm::LinearOp, lm::FusedLinearOp>(op)) {
    return false;
  }
  // Weight i stands behind the input and makes result i.
  Value product = op->getResult(use.getOperandNumber() - 1);
  return llvm::any_of(product.getUses(), [](OpOperand &reader) {
    return isa<lm::RouteOp>(reader.getOwner()) ||
           (isa<lm::SigmoidGateOp>(reader.getOwner()) &&
            reader.getOperandNumber() == 1);
  });
}

/// The embedding and the head decide single tokens and are read by row.
bool isVocabulary(lm::WeightType type, ModuleOp module) {
  bool result = false;
  if (type.isStack()) {
    return false;
  }
  module.walk([&](lm::EmbedOp embed) {
    result |= cast<lm::WeightType>(embed.getWeight().getType()).getRows() ==
              type.getRows();
  });
  return result;
}

struct QuantizeWeights : impl::QuantizeWeightsBase<QuantizeWeights> {
  using QuantizeWeightsBase::QuantizeWeightsBase;

  lm::NumberFormat formatFor(OpOperand &use) {
    auto type = cast<lm::WeightType>(use.get().getType());
    if (isScore(use)) {
      // An f32 product whatever the option: a choice must not hang on rounding.
      bool floats =
          activationFormatFor(type.getFormat()) == lm::ActivationFormat::F32;
      return floats ? type.getFormat() : lm::NumberFormat::F32;
    }
    if (isa_and_nonnull<lm::FoldKeyOp, lm::FoldValueOp>(
            use.get().getDefiningOp())) {
      return foldedFormatUnder(to, type);
    }
    return formatUnder(to, type, isVocabulary(type, getOperation()));
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (to == "keep") {
      explain(module, getArgument(), "keep: the checkpoint's own formats");
    }
    if (!llvm::is_contained({"keep", "f32", "bf16", "int8", "int4", "int4a"},
                            to)) {
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
      lm::NumberFormat format = formatFor(*use);
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
              counted(count, "weight") + " to " + format);
    }
  }
};

} // namespace
} // namespace quire
