#include "passes/Explain.h"
#include "passes/Passes.h"

using namespace mlir;

namespace quire {
#define GEN_PASS_DEF_FUSERESIDUALNORM
#include "passes/Passes.h.inc"

namespace {

struct ResidualNorm {
  lm::AddOp add;
  lm::RmsNormOp norm;
};

/// The first whole-row norm that reads the sum, in the same block.
std::optional<ResidualNorm> match(lm::AddOp add) {
  lm::RmsNormOp first;
  for (Operation *user : add->getUsers()) {
    auto norm = dyn_cast<lm::RmsNormOp>(user);
    if (norm && norm->getBlock() == add->getBlock() &&
        cast<lm::WeightType>(norm.getWeight().getType()).getRows() ==
            lm::featuresOf(add.getType()) &&
        (!first || norm->isBeforeInBlock(first))) {
      first = norm;
    }
  }
  return first ? std::optional(ResidualNorm{add, first}) : std::nullopt;
}

/// The fused op stands where the norm stood (its weight is known there) unless
/// the sum is read earlier; then the sum's readers decide.
bool sumReadBeforeNorm(const ResidualNorm &pair) {
  return llvm::any_of(pair.add->getUsers(), [&](Operation *user) {
    return user != pair.norm && user->isBeforeInBlock(pair.norm);
  });
}

void rewrite(ResidualNorm pair) {
  OpBuilder builder(pair.norm);
  auto fused = lm::AddRmsNormOp::create(
      builder, pair.norm.getLoc(), pair.add.getType(), pair.norm.getType(),
      pair.add.getLhs(), pair.add.getRhs(), pair.norm.getWeight(),
      pair.norm.getEpsilonAttr());
  pair.add.replaceAllUsesWith(fused.getSum());
  pair.norm.replaceAllUsesWith(fused.getNormed());
  pair.norm.erase();
  pair.add.erase();
}

struct FuseResidualNorm : impl::FuseResidualNormBase<FuseResidualNorm> {
  void runOnOperation() override {
    llvm::SmallVector<ResidualNorm> found;
    getOperation().walk([&](lm::AddOp add) {
      auto pair = match(add);
      if (pair && !sumReadBeforeNorm(*pair)) {
        found.push_back(*pair);
      }
    });
    for (const ResidualNorm &pair : found) {
      rewrite(pair);
    }
    explain(getOperation(), getArgument(),
            counted(found.size(), "residual addition") +
                " fused with their norm");
  }
};

} // namespace
} // namespace quire
