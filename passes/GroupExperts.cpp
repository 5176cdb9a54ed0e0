#include "passes/Explain.h"
#include "passes/Passes.h"

using namespace mlir;

namespace quire {
#define GEN_PASS_DEF_GROUPEXPERTS
#include "passes/Passes.h.inc"

namespace {

/// Builds the grouped form in an op's place.
class Grouping {
public:
  explicit Grouping(lm::ExpertsOp experts) : experts(experts), b(experts) {}

  void rewrite() {
    lm::RoutesType routes = experts.getRoutes().getType();
    Value groups = lm::GroupRoutesOp::create(
        b, named("expert_groups"),
        lm::GroupsType::get(b.getContext(), routes.getExperts(),
                            routes.getTop()),
        experts.getRoutes());
    Value pairs = lm::DispatchOp::create(b, named("expert_rows"),
                                         experts.getInput(), groups);
    Value down =
        product("expert_down", inner(pairs, groups), groups, experts.getDown());
    Value combined = lm::CombineOp::create(b, experts.getLoc(), down,
                                           experts.getRoutes(), groups);
    experts.replaceAllUsesWith(combined);
    experts.erase();
  }

private:
  Location named(StringRef name) { return NameLoc::get(b.getStringAttr(name)); }

  Value product(StringRef name, Value rows, Value groups, Value weight) {
    auto type = cast<lm::WeightType>(weight.getType());
    return lm::ExpertLinearOp::create(
        b, named(name), lm::rowsType(b.getContext(), type.getRows()), rows,
        groups, weight);
  }

  /// The gated half; one kernel reads both stacks where they are stored alike.
  Value inner(Value pairs, Value groups) {
    Value gate = experts.getGate();
    Value up = experts.getUp();
    if (gate.getType() == up.getType()) {
      auto type = cast<lm::WeightType>(gate.getType());
      return lm::ExpertGatedLinearOp::create(
          b, named("expert_gated"),
          lm::rowsType(b.getContext(), type.getRows()),
          experts.getNonlinearity(), pairs, groups, gate, up);
    }
    Value gated = product("expert_gate", pairs, groups, gate);
    Value active =
        lm::NonlinearityOp::create(b, named("expert_act"), gated.getType(),
                                   experts.getNonlinearity(), gated);
    Value other = product("expert_up", pairs, groups, up);
    return lm::MulOp::create(b, named("expert_mul"), other.getType(), active,
                             other);
  }

  lm::ExpertsOp experts;
  OpBuilder b;
};

struct GroupExperts : impl::GroupExpertsBase<GroupExperts> {
  void runOnOperation() override {
    llvm::SmallVector<lm::ExpertsOp> found;
    getOperation().walk([&](lm::ExpertsOp op) { found.push_back(op); });
    for (lm::ExpertsOp op : found) {
      auto type = cast<lm::WeightType>(op.getGate().getType());
      int64_t top = op.getRoutes().getType().getTop();
      explain(getOperation(), getArgument(),
              "a row's " + llvm::Twine(top) + " of " +
                  llvm::Twine(type.getMatrices()) +
                  " experts become pairs, sorted by expert: a step reads the "
                  "experts that some row chose, once");
      Grouping(op).rewrite();
    }
  }
};

} // namespace
} // namespace quire
