#include "passes/Explain.h"
#include "passes/Passes.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace quire {
#define GEN_PASS_DEF_FUSEQKV
#include "passes/Passes.h.inc"

namespace {

/// Products of one input in one block, in program order.
using Siblings = llvm::SmallVector<lm::LinearOp>;

llvm::SmallVector<Siblings> findSiblings(ModuleOp module) {
  llvm::MapVector<std::pair<Block *, Value>, Siblings> byInput;
  module.walk([&](lm::LinearOp linear) {
    byInput[{linear->getBlock(), linear.getInput()}].push_back(linear);
  });
  llvm::SmallVector<Siblings> result;
  for (auto &[input, siblings] : byInput) {
    if (siblings.size() > 1) {
      result.push_back(siblings);
    }
  }
  return result;
}

/// Weight expressions depend on parameters alone: they may move up to where
/// the fused product stands.
void hoistWeight(Value weight, Operation *before) {
  Operation *definition = weight.getDefiningOp();
  if (definition == nullptr || definition->getBlock() != before->getBlock() ||
      definition->isBeforeInBlock(before)) {
    return;
  }
  for (Value operand : definition->getOperands()) {
    hoistWeight(operand, before);
  }
  definition->moveBefore(before);
}

void fuse(const Siblings &siblings) {
  lm::LinearOp first = siblings.front();
  llvm::SmallVector<Value> weights, biases;
  llvm::SmallVector<bool> hasBias;
  llvm::SmallVector<Type> types;
  for (lm::LinearOp linear : siblings) {
    hoistWeight(linear.getWeight(), first);
    weights.push_back(linear.getWeight());
    hasBias.push_back(bool(linear.getBias()));
    if (linear.getBias()) {
      hoistWeight(linear.getBias(), first);
      biases.push_back(linear.getBias());
    }
    types.push_back(linear.getType());
  }
  OpBuilder builder(first);
  llvm::SmallVector<Location> locations;
  for (lm::LinearOp linear : siblings) {
    locations.push_back(linear.getLoc());
  }
  auto fused = lm::FusedLinearOp::create(
      builder, FusedLoc::get(builder.getContext(), locations), types,
      first.getInput(), weights, biases,
      builder.getDenseBoolArrayAttr(hasBias));
  for (auto [linear, result] : llvm::zip_equal(siblings, fused.getOutputs())) {
    linear->replaceAllUsesWith(ValueRange{result});
    linear->erase();
  }
}

struct FuseQkv : impl::FuseQkvBase<FuseQkv> {
  void runOnOperation() override {
    llvm::SmallVector<Siblings> groups = findSiblings(getOperation());
    for (const Siblings &siblings : groups) {
      fuse(siblings);
    }
    explain(getOperation(), getArgument(),
            counted(groups.size(), "product group") + " fused");
  }
};

} // namespace
} // namespace quire
