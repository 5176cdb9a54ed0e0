// What the kernels of mixtures of experts compute, with the reference
// functions.

#include "ir/reference/Experts.h"
#include "ir/reference/RtPart.h"

using namespace mlir;

namespace quire::reference {

static LogicalResult runRoute(RtPart &part) {
  const Rows *scores = part.read("scores");
  auto bias = part.weight("bias");
  if (!scores || failed(bias)) {
    return failure();
  }
  Routing routing;
  routing.gate = static_cast<RouterGate>(part.integer("gate"));
  routing.top = part.integer("top");
  routing.groups = part.integer("groups");
  routing.topGroups = part.integer("topGroups");
  routing.groupScore = static_cast<GroupScore>(part.integer("groupScore"));
  routing.normalise = part.integer("normalise") != 0;
  routing.scale = part.number64("scale");
  part.write("routes", route(routing, *scores, bias->get()));
  return success();
}

static LogicalResult runGroupRoutes(RtPart &part) {
  const Rows *routes = part.read("routes");
  if (!routes) {
    return failure();
  }
  part.write("pairs", groupRoutes(*routes));
  return success();
}

static LogicalResult runDispatch(RtPart &part) {
  const Rows *rows = part.read("rows");
  const Rows *pairs = part.read("pairs");
  if (!rows || !pairs) {
    return failure();
  }
  part.write("out", dispatch(*rows, *pairs));
  return success();
}

static LogicalResult runExpertLinear(RtPart &part) {
  const Rows *x = part.read("activation");
  const Rows *pairs = part.read("pairs");
  auto weight = part.weight("weight");
  if (!x || !pairs || failed(weight)) {
    return failure();
  }
  part.write("out", expertLinear(*x, *pairs, **weight));
  return success();
}

static LogicalResult runExpertGatedLinear(RtPart &part) {
  const Rows *x = part.read("activation");
  const Rows *pairs = part.read("pairs");
  auto gate = part.weight("gate");
  auto up = part.weight("up");
  if (!x || !pairs || failed(gate) || failed(up)) {
    return failure();
  }
  auto kind = static_cast<Nonlinearity>(part.integer("activationKind"));
  part.write("out", expertGatedLinear(kind, *x, *pairs, **gate, **up));
  return success();
}

static LogicalResult runCombine(RtPart &part) {
  const Rows *rows = part.read("rows");
  const Rows *routes = part.read("routes");
  const Rows *pairs = part.read("pairs");
  if (!rows || !routes || !pairs) {
    return failure();
  }
  part.write("out", combine(*rows, *routes, *pairs));
  return success();
}

void addExpertKernels(KernelRunners &kernels) {
  kernels["route"] = runRoute;
  kernels["group_routes"] = runGroupRoutes;
  kernels["dispatch"] = runDispatch;
  kernels["expert_linear"] = runExpertLinear;
  kernels["expert_gated_linear"] = runExpertGatedLinear;
  kernels["combine"] = runCombine;
}

} // namespace quire::reference
