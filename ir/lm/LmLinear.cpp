// Verifiers of products, gates, activation rounding and norms.

#include "ir/lm/Verify.h"

using namespace mlir;

namespace quire::lm {

LogicalResult verifyProduct(Operation *op, int64_t inputs, WeightType weight,
                            WeightType bias, int64_t outputs) {
  if (weight.getShape().size() != 2) {
    return complain(op) << "multiplies by " << weight
                        << "; a weight here is a matrix [outputs, inputs]";
  }
  // C1
  if (weight.getColumns() != inputs) {
    return complain(op) << "has rows of " << inputs
                        << " features but a weight with " << weight.getColumns()
                        << " inputs";
  }
  // C2
  if (weight.getRows() != outputs) {
    return complain(op) << "gives " << outputs
                        << " features but its weight has " << weight.getRows()
                        << " outputs";
  }
  // C3
  if (bias && (!bias.isVector() || bias.getRows() != outputs)) {
    return complain(op) << "needs a bias that is a vector of " << outputs
                        << " features, not " << bias;
  }
  return success();
}

LogicalResult LinearOp::verify() {
  WeightType bias =
      getBias() ? cast<WeightType>(getBias().getType()) : WeightType();
  return verifyProduct(*this, featuresOf(getInput().getType()),
                       getWeight().getType(), bias,
                       featuresOf(getOutput().getType()));
}

LogicalResult FusedLinearOp::verify() {
  // C1
  if (getWeights().size() != getOutputs().size() ||
      getHasBias().size() != getWeights().size()) {
    return complain(*this) << "has " << getWeights().size() << " weights, "
                           << getHasBias().size() << " entries of has_bias and "
                           << getOutputs().size()
                           << " results; they must be as many";
  }
  // C2
  size_t wanted = llvm::count(getHasBias(), true);
  if (getBiases().size() != wanted) {
    return complain(*this) << "has " << getBiases().size()
                           << " biases where has_bias asks for " << wanted;
  }
  // C3
  int64_t inputs = featuresOf(getInput().getType());
  size_t nextBias = 0;
  for (size_t i = 0; i < getWeights().size(); ++i) {
    WeightType bias;
    if (getHasBias()[i]) {
      bias = cast<WeightType>(getBiases()[nextBias++].getType());
    }
    if (failed(verifyProduct(*this, inputs,
                             cast<WeightType>(getWeights()[i].getType()), bias,
                             featuresOf(getOutputs()[i].getType())))) {
      return failure();
    }
  }
  return success();
}

LogicalResult GatedLinearOp::verify() {
  WeightType gate = getGate().getType();
  WeightType up = getUp().getType();
  // C1
  if (gate.getShape() != up.getShape()) {
    return complain(*this) << "needs gate and up of one shape, not " << gate
                           << " and " << up;
  }
  return verifyProduct(*this, featuresOf(getInput().getType()), gate,
                       WeightType(), featuresOf(getOutput().getType()));
}

LogicalResult QuantizeActivationOp::verify() {
  ActivationType output = getOutput().getType();
  int64_t features = featuresOf(getInput().getType());
  if (output.getFeatures() != features) {
    return complain(*this) << "turns rows of " << features << " features into "
                           << output.getFeatures();
  }
  // C1
  if (features % output.getGroup() != 0) {
    return complain(*this) << "rounds " << features
                           << " features, which are not whole groups of "
                           << output.getGroup();
  }
  return success();
}

LogicalResult SigmoidGateOp::verify() {
  // C1
  if (featuresOf(getGate().getType()) != 1) {
    return complain(*this) << "needs a gate of one feature, not "
                           << getGate().getType();
  }
  return success();
}

static LogicalResult verifyNorm(Operation *op, Type rows, WeightType weight) {
  // C1
  if (!weight.isVector() || featuresOf(rows) % weight.getRows() != 0) {
    return complain(op) << "norms rows of " << featuresOf(rows)
                        << " features by " << weight
                        << "; they must be whole sections of a vector's width";
  }
  return success();
}

LogicalResult RmsNormOp::verify() {
  return verifyNorm(*this, getInput().getType(), getWeight().getType());
}

LogicalResult AddRmsNormOp::verify() {
  return verifyNorm(*this, getInput().getType(), getWeight().getType());
}

} // namespace quire::lm
