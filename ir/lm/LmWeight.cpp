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

LogicalResult TakeRowsOp::verify() {
  WeightType input = getInput().getType();
  WeightType output = getOutput().getType();
  int64_t heads = getHeads();
  // C1
  bool sameRank = output.getShape().size() == input.getShape().size();
  if (heads <= 0 || input.isStack() || input.getRows() % heads != 0 ||
      (output.isStack() ? input.isVector() || output.getMatrices() != heads
                        : !sameRank || output.getRows() % heads != 0)) {
    return complain(*this) << "takes rows of " << heads << " heads of " << input
                           << " as " << output;
  }
  // C2
  int64_t from = input.getRows() / heads;
  int64_t taken =
      output.isStack() ? output.getRows() : output.getRows() / heads;
  int64_t begin = getBegin();
  if (begin < 0 || begin > from - taken) {
    return complain(*this) << "takes " << taken << " rows from " << begin
                           << " on of heads that have " << from;
  }
  // C3
  if (input.getFormat() != output.getFormat() ||
      (!input.isVector() && input.getColumns() != output.getColumns())) {
    return complain(*this) << "turns " << input << " into " << output
                           << "; inputs and format must stay";
  }
  return success();
}

/// C2 of both folds.
static LogicalResult verifyFold(Operation *op, WeightType output, int64_t rows,
                                int64_t columns) {
  if (output.getFormat() != NumberFormat::F32 || output.isStack() ||
      output.isVector() || output.getRows() != rows ||
      output.getColumns() != columns) {
    return complain(op) << "gives f32 of [" << rows << ", " << columns
                        << "], not " << output;
  }
  return success();
}

LogicalResult FoldKeyOp::verify() {
  WeightType query = getQuery().getType();
  WeightType key = getKey().getType();
  // C1
  if (!query.isStack() || !key.isStack() ||
      query.getMatrices() != key.getMatrices() ||
      query.getRows() != key.getRows()) {
    return complain(*this) << "needs stacks of as many matrices of as many "
                              "rows, not "
                           << query << " and " << key;
  }
  return verifyFold(*this, getOutput().getType(),
                    key.getMatrices() * key.getColumns(), query.getColumns());
}

LogicalResult FoldValueOp::verify() {
  WeightType product = getProduct().getType();
  WeightType value = getValue().getType();
  // C1
  if (!value.isStack() || product.isStack() || product.isVector() ||
      product.getColumns() != value.getMatrices() * value.getRows()) {
    return complain(*this) << "needs a matrix with an input for every row of "
                              "a stack, not "
                           << product << " and " << value;
  }
  return verifyFold(*this, getOutput().getType(), product.getRows(),
                    value.getMatrices() * value.getColumns());
}

} // namespace quire::lm
