#include "passes/Explain.h"
#include "passes/Passes.h"

using namespace mlir;

namespace quire {
#define GEN_PASS_DEF_FUSEGATEDMLP
#include "passes/Passes.h.inc"

namespace {

struct GatedMlp {
  lm::MulOp product;
  lm::NonlinearityOp active;
  lm::LinearOp gate, up;
};

/// A product that may disappear into a fusion: no bias, one reader.
lm::LinearOp plainLinear(Value value) {
  auto linear = value.getDefiningOp<lm::LinearOp>();
  return linear && !linear.getBias() && value.hasOneUse() ? linear
                                                          : lm::LinearOp();
}

std::optional<GatedMlp> match(lm::MulOp product) {
  for (auto [gated, other] : {std::pair(product.getLhs(), product.getRhs()),
                              std::pair(product.getRhs(), product.getLhs())}) {
    auto active = gated.getDefiningOp<lm::NonlinearityOp>();
    if (!active || !gated.hasOneUse()) {
      continue;
    }
    lm::LinearOp gate = plainLinear(active.getInput());
    lm::LinearOp up = plainLinear(other);
    if (gate && up && gate.getInput() == up.getInput() &&
        gate.getWeight().getType() == up.getWeight().getType()) {
      return GatedMlp{product, active, gate, up};
    }
  }
  return std::nullopt;
}

void rewrite(GatedMlp mlp) {
  OpBuilder builder(mlp.product);
  auto fused = lm::GatedLinearOp::create(
      builder, NameLoc::get(builder.getStringAttr("mlp_gated")),
      mlp.product.getType(), mlp.active.getKind(), mlp.gate.getInput(),
      mlp.gate.getWeight(), mlp.up.getWeight());
  mlp.product.replaceAllUsesWith(fused.getOutput());
  mlp.product.erase();
  mlp.active.erase();
  mlp.gate.erase();
  mlp.up.erase();
}

struct FuseGatedMlp : impl::FuseGatedMlpBase<FuseGatedMlp> {
  void runOnOperation() override {
    llvm::SmallVector<GatedMlp> found;
    getOperation().walk([&](lm::MulOp product) {
      if (auto mlp = match(product)) {
        found.push_back(*mlp);
      }
    });
    for (const GatedMlp &mlp : found) {
      rewrite(mlp);
    }
    explain(getOperation(), getArgument(),
            counted(found.size(), "gated MLP") + " fused");
  }
};

} // namespace
} // namespace quire
