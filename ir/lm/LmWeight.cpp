// Verifiers of weight expressions.

#include "ir/lm/Verify.h"

using namespace mlir;

namespace quire::lm {

LogicalResult
LoadParamOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto param =
      symbolTable.lookupNearestSymbolFrom<ParamOp>(*this, getParamAttr());
  // C1
  if (!param) {
    return complain(*this) << "names " << getParamAttr()
                           << ", which is no lm.param";
  }
  if (param.getShape() != getWeight().getType().getShape()) {
    return complain(*this) << "has type " << getWeight().getType()
                           << " but its parameter has shape ["
                           << param.getShape() << "]";
  }
  // C2
  if (param.getLayers().has_value() != static_cast<bool>(getLayer())) {
    return complain(*this)
           << (getLayer() ? "gives a layer to a parameter without layers: "
                          : "needs a layer for a parameter with layers: ")
           << getParamAttr();
  }
  if (!getLayer() && !param.existsIn(0)) {
    return complain(*this) << "loads " << getParamAttr()
                           << ", which is nowhere stored";
  }
  if (!getLayer() && param.formatOf(0) != getWeight().getType().getFormat()) {
    return complain(*this) << "has type " << getWeight().getType()
                           << " but its parameter is stored in "
                           << stringifyNumberFormat(param.formatOf(0));
  }
  return success();
}

LogicalResult UnpermuteRotaryOp::verify() {
  // C1
  int64_t rows = getInput().getType().getRows();
  if (getHeadDim() <= 0 || getHeadDim() % 2 != 0 || rows % getHeadDim() != 0) {
    return complain(*this) << "reorders " << rows << " rows in heads of "
                           << getHeadDim()
                           << "; a head must be even and the rows whole heads";
  }
  return success();
}

/// A transform that changes how values are stored, not how many there are.
static LogicalResult verifySameShape(Operation *op, WeightType input,
                                     WeightType output) {
  // C1
  if (input.getShape() != output.getShape()) {
    return complain(op) << "turns " << input << " into " << output
                        << "; the shape must stay";
  }
  return success();
}

LogicalResult AffineWeightOp::verify() {
  if (getOutput().getType().getFormat() != NumberFormat::F32) {
    return complain(*this) << "gives f32, not " << getOutput().getType();
  }
  return verifySameShape(*this, getInput().getType(), getOutput().getType());
}

LogicalResult ConvertWeightOp::verify() {
  return verifySameShape(*this, getInput().getType(), getOutput().getType());
}

} // namespace quire::lm
