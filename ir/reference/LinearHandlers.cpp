// Runs products, norms and the rounding of product inputs.

#include "ir/reference/Frame.h"
#include "ir/reference/Linear.h"
#include "ir/reference/Norm.h"
#include "ir/reference/Rounding.h"

using namespace mlir;

namespace quire::reference {

/// One product with an optional bias, set as `output`.
static LogicalResult runProduct(Frame &frame, Value input, Value weight,
                                Value bias, Value output) {
  auto w = frame.state.weights.evaluate(weight, frame.layer);
  if (failed(w)) {
    return failure();
  }
  WeightPtr b;
  if (bias) {
    auto evaluated = frame.state.weights.evaluate(bias, frame.layer);
    if (failed(evaluated)) {
      return failure();
    }
    b = *evaluated;
  }
  frame.set(output, linear(frame.rows(input), **w, b.get()));
  return success();
}

static LogicalResult runLinear(Frame &frame, lm::LinearOp op) {
  return runProduct(frame, op.getInput(), op.getWeight(), op.getBias(),
                    op.getOutput());
}

static LogicalResult runFusedLinear(Frame &frame, lm::FusedLinearOp op) {
  size_t nextBias = 0;
  for (size_t i = 0; i < op.getWeights().size(); ++i) {
    Value bias;
    if (op.getHasBias()[i]) {
      bias = op.getBiases()[nextBias++];
    }
    if (failed(runProduct(frame, op.getInput(), op.getWeights()[i], bias,
                          op.getOutputs()[i]))) {
      return failure();
    }
  }
  return success();
}

static LogicalResult runGatedLinear(Frame &frame, lm::GatedLinearOp op) {
  auto gate = frame.state.weights.evaluate(op.getGate(), frame.layer);
  auto up = frame.state.weights.evaluate(op.getUp(), frame.layer);
  if (failed(gate) || failed(up)) {
    return failure();
  }
  auto kind = static_cast<Nonlinearity>(op.getNonlinearity());
  frame.set(op.getOutput(),
            gatedLinear(kind, frame.rows(op.getInput()), **gate, **up));
  return success();
}

static LogicalResult runQuantizeActivation(Frame &frame,
                                           lm::QuantizeActivationOp op) {
  lm::ActivationType type = op.getOutput().getType();
  const Rows &x = frame.rows(op.getInput());
  frame.set(op.getOutput(), type.getFormat() == lm::ActivationFormat::F32
                                ? x
                                : quantizeActivation(x, type.getGroup()));
  return success();
}

static LogicalResult runRmsNorm(Frame &frame, lm::RmsNormOp op) {
  auto weight = frame.state.weights.evaluate(op.getWeight(), frame.layer);
  if (failed(weight)) {
    return failure();
  }
  frame.set(op.getOutput(), rmsNorm(frame.rows(op.getInput()), **weight,
                                    op.getEpsilon().convertToDouble()));
  return success();
}

static LogicalResult runAddRmsNorm(Frame &frame, lm::AddRmsNormOp op) {
  auto weight = frame.state.weights.evaluate(op.getWeight(), frame.layer);
  if (failed(weight)) {
    return failure();
  }
  Rows sum = add(frame.rows(op.getInput()), frame.rows(op.getDelta()));
  Rows normed = rmsNorm(sum, **weight, op.getEpsilon().convertToDouble());
  frame.set(op.getSum(), std::move(sum));
  frame.set(op.getNormed(), std::move(normed));
  return success();
}

void addLinearHandlers(HandlerTable &table) {
  addHandler<lm::LinearOp, runLinear>(table);
  addHandler<lm::FusedLinearOp, runFusedLinear>(table);
  addHandler<lm::GatedLinearOp, runGatedLinear>(table);
  addHandler<lm::QuantizeActivationOp, runQuantizeActivation>(table);
  addHandler<lm::RmsNormOp, runRmsNorm>(table);
  addHandler<lm::AddRmsNormOp, runAddRmsNorm>(table);
}

} // namespace quire::reference
