// Runs mixtures of experts.

#include "ir/reference/Experts.h"
#include "ir/reference/Frame.h"

using namespace mlir;

namespace quire::reference {

static LogicalResult runRoute(Frame &frame, lm::RouteOp op) {
  WeightPtr bias;
  if (op.getBias()) {
    auto evaluated = frame.state.weights.evaluate(op.getBias(), frame.layer);
    if (failed(evaluated)) {
      return failure();
    }
    bias = *evaluated;
  }
  Routing routing;
  routing.gate = static_cast<RouterGate>(op.getGate());
  routing.top = op.getRoutes().getType().getTop();
  routing.groups = op.getGroups();
  routing.topGroups = op.getTopGroups();
  routing.groupScore = static_cast<GroupScore>(op.getGroupScore());
  routing.normalise = op.getNormalise();
  routing.scale = op.getScale().convertToDouble();
  frame.set(op.getRoutes(),
            route(routing, frame.rows(op.getScores()), bias.get()));
  return success();
}

static LogicalResult runExperts(Frame &frame, lm::ExpertsOp op) {
  auto gate = frame.state.weights.evaluate(op.getGate(), frame.layer);
  auto up = frame.state.weights.evaluate(op.getUp(), frame.layer);
  auto down = frame.state.weights.evaluate(op.getDown(), frame.layer);
  if (failed(gate) || failed(up) || failed(down)) {
    return failure();
  }
  frame.set(op.getOutput(),
            experts(static_cast<Nonlinearity>(op.getNonlinearity()),
                    frame.rows(op.getInput()), frame.rows(op.getRoutes()),
                    {**gate, **up, **down}));
  return success();
}

static LogicalResult runGroupRoutes(Frame &frame, lm::GroupRoutesOp op) {
  frame.set(op.getGroups(), groupRoutes(frame.rows(op.getRoutes())));
  return success();
}

static LogicalResult runDispatch(Frame &frame, lm::DispatchOp op) {
  frame.set(op.getOutput(),
            dispatch(frame.rows(op.getInput()), frame.rows(op.getGroups())));
  return success();
}

static LogicalResult runExpertLinear(Frame &frame, lm::ExpertLinearOp op) {
  auto weight = frame.state.weights.evaluate(op.getWeight(), frame.layer);
  if (failed(weight)) {
    return failure();
  }
  frame.set(op.getOutput(), expertLinear(frame.rows(op.getInput()),
                                         frame.rows(op.getGroups()), **weight));
  return success();
}

static LogicalResult runExpertGatedLinear(Frame &frame,
                                          lm::ExpertGatedLinearOp op) {
  auto gate = frame.state.weights.evaluate(op.getGate(), frame.layer);
  auto up = frame.state.weights.evaluate(op.getUp(), frame.layer);
  if (failed(gate) || failed(up)) {
    return failure();
  }
  frame.set(op.getOutput(),
            expertGatedLinear(static_cast<Nonlinearity>(op.getNonlinearity()),
                              frame.rows(op.getInput()),
                              frame.rows(op.getGroups()), **gate, **up));
  return success();
}

static LogicalResult runCombine(Frame &frame, lm::CombineOp op) {
  frame.set(op.getOutput(),
            combine(frame.rows(op.getInput()), frame.rows(op.getRoutes()),
                    frame.rows(op.getGroups())));
  return success();
}

// The reference's own enums stand in the order of the dialect's.
static_assert(static_cast<int>(lm::RouterGate::Sigmoid) ==
              static_cast<int>(RouterGate::Sigmoid));
static_assert(static_cast<int>(lm::GroupScore::Top2) ==
              static_cast<int>(GroupScore::Top2));

void addExpertHandlers(HandlerTable &table) {
  addHandler<lm::RouteOp, runRoute>(table);
  addHandler<lm::ExpertsOp, runExperts>(table);
  addHandler<lm::GroupRoutesOp, runGroupRoutes>(table);
  addHandler<lm::DispatchOp, runDispatch>(table);
  addHandler<lm::ExpertLinearOp, runExpertLinear>(table);
  addHandler<lm::ExpertGatedLinearOp, runExpertGatedLinear>(table);
  addHandler<lm::CombineOp, runCombine>(table);
}

} // namespace quire::reference
