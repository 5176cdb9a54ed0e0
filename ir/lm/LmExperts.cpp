// Verifiers of mixtures of experts.

#include "ir/lm/Verify.h"

using namespace mlir;

namespace quire::lm {

LogicalResult RoutesType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t experts, int64_t top) {
  // C1
  if (top < 1 || experts < top) {
    return emitError() << "routes choose 1 to all of the experts, not " << top
                       << " of " << experts;
  }
  return success();
}

LogicalResult GroupsType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t experts, int64_t top) {
  return RoutesType::verify(emitError, experts, top);
}

LogicalResult RouteOp::verify() {
  RoutesType routes = getRoutes().getType();
  int64_t experts = routes.getExperts();
  // C1
  if (featuresOf(getScores().getType()) != experts) {
    return complain(*this) << "chooses among " << experts
                           << " experts by scores of "
                           << featuresOf(getScores().getType());
  }
  if (getBias()) {
    auto bias = cast<WeightType>(getBias().getType());
    if (!bias.isVector() || bias.getRows() != experts) {
      return complain(*this) << "needs a bias that is a vector of " << experts
                             << " features, not " << bias;
    }
  }
  // C2
  int64_t groups = getGroups();
  int64_t topGroups = getTopGroups();
  if (groups < 1 || experts % groups != 0 || topGroups < 1 ||
      topGroups > groups) {
    return complain(*this) << "takes " << topGroups << " of " << groups
                           << " groups of " << experts
                           << " experts; groups must divide the experts, and "
                              "1 to all of them be taken";
  }
  // C3
  int64_t allowed = experts / groups * topGroups;
  if (routes.getTop() > allowed) {
    return complain(*this) << "takes " << routes.getTop() << " experts of the "
                           << allowed << " that the best groups hold";
  }
  // C4
  if (groups > 1 && getGroupScore() == GroupScore::Top2 &&
      experts / groups < 2) {
    return complain(*this) << "scores groups of one expert by their two best";
  }
  return success();
}

/// C1 of all products: a stack with one matrix an expert.
static LogicalResult verifyStack(Operation *op, WeightType weight,
                                 int64_t experts) {
  if (!weight.isStack() || weight.getMatrices() != experts) {
    return complain(op) << "needs a stack of " << experts << " matrices, not "
                        << weight;
  }
  return success();
}

/// C2: the widths around a stack.
static LogicalResult verifyWidths(Operation *op, WeightType weight,
                                  int64_t inputs, int64_t outputs) {
  if (weight.getColumns() != inputs || weight.getRows() != outputs) {
    return complain(op) << "turns rows of " << inputs << " features into "
                        << outputs << " with " << weight;
  }
  return success();
}

LogicalResult ExpertsOp::verify() {
  int64_t experts = getRoutes().getType().getExperts();
  int64_t features = featuresOf(getInput().getType());
  WeightType gate = getGate().getType();
  WeightType down = getDown().getType();
  for (WeightType weight : {gate, getUp().getType(), down}) {
    if (failed(verifyStack(*this, weight, experts))) {
      return failure();
    }
  }
  int64_t inner = gate.getRows();
  return success(
      succeeded(verifyWidths(*this, gate, features, inner)) &&
      succeeded(verifyWidths(*this, getUp().getType(), features, inner)) &&
      succeeded(verifyWidths(*this, down, inner, features)));
}

/// Groups hold the pairs of the routes.
static LogicalResult verifyAgree(Operation *op, RoutesType routes,
                                 GroupsType groups) {
  if (routes.getExperts() != groups.getExperts() ||
      routes.getTop() != groups.getTop()) {
    return complain(op) << "has " << routes << " and " << groups
                        << ", which must agree";
  }
  return success();
}

LogicalResult GroupRoutesOp::verify() {
  return verifyAgree(*this, getRoutes().getType(), getGroups().getType());
}

LogicalResult CombineOp::verify() {
  return verifyAgree(*this, getRoutes().getType(), getGroups().getType());
}

LogicalResult ExpertLinearOp::verify() {
  WeightType weight = getWeight().getType();
  if (failed(verifyStack(*this, weight, getGroups().getType().getExperts()))) {
    return failure();
  }
  return verifyWidths(*this, weight, featuresOf(getInput().getType()),
                      featuresOf(getOutput().getType()));
}

LogicalResult ExpertGatedLinearOp::verify() {
  WeightType gate = getGate().getType();
  WeightType up = getUp().getType();
  if (failed(verifyStack(*this, gate, getGroups().getType().getExperts()))) {
    return failure();
  }
  if (gate.getShape() != up.getShape()) {
    return complain(*this) << "needs gate and up of one shape, not " << gate
                           << " and " << up;
  }
  return verifyWidths(*this, gate, featuresOf(getInput().getType()),
                      featuresOf(getOutput().getType()));
}

} // namespace quire::lm
