// Verifiers of latent attention.

#include "ir/lm/Verify.h"

using namespace mlir;

namespace quire::lm {

/// A stack with one matrix a head and as many inputs.
static LogicalResult verifyHeadStack(Operation *op, WeightType stack,
                                     int64_t heads, int64_t inputs) {
  if (!stack.isStack() || stack.getMatrices() != heads ||
      stack.getColumns() != inputs) {
    return complain(op) << "needs a stack of " << heads << " matrices with "
                        << inputs << " inputs, not " << stack;
  }
  return success();
}

LogicalResult HeadLinearOp::verify() {
  WeightType weight = getWeight().getType();
  // C1
  if (!weight.isStack()) {
    return complain(*this) << "needs a stack with one matrix a head, not "
                           << weight;
  }
  int64_t inputs = weight.getMatrices() * weight.getColumns();
  int64_t outputs = weight.getMatrices() * weight.getRows();
  if (getTransposed()) {
    std::swap(inputs, outputs);
  }
  if (featuresOf(getInput().getType()) != inputs ||
      featuresOf(getOutput().getType()) != outputs) {
    return complain(*this) << "turns rows of " << inputs << " features into "
                           << outputs << " with " << weight << ", not "
                           << getInput().getType() << " into "
                           << getOutput().getType();
  }
  return success();
}

/// Rotary channels that were not rotated, or that a weight product has
/// swallowed, would score positions wrongly without any other sign.
static LogicalResult verifyRotated(Operation *op, Value rotary,
                                   StringRef what) {
  while (auto select = rotary.getDefiningOp<SelectFormOp>()) {
    rotary = select.getInput();
  }
  if (!rotary.getDefiningOp<RopeOp>()) {
    return complain(op) << "has a rotary " << what
                        << " that no lm.rope has rotated; the rotary part is "
                           "never folded into a weight";
  }
  return success();
}

/// C1 and C2 of both attentions.
template <typename Op>
static LogicalResult verifyWidths(Op op, int64_t rank, int64_t rotary) {
  int64_t heads = op.getHeads();
  if (heads <= 0) {
    return complain(op) << "has " << heads << " heads";
  }
  int64_t content = rank, value = rank;
  if (op.isRaised()) {
    auto keyUp = cast<WeightType>(op.getKeyUp().getType());
    auto valueUp = cast<WeightType>(op.getValueUp().getType());
    if (failed(verifyHeadStack(op, keyUp, heads, rank)) ||
        failed(verifyHeadStack(op, valueUp, heads, rank))) {
      return failure();
    }
    content = keyUp.getRows();
    value = valueUp.getRows();
  }
  if (featuresOf(op.getQuery().getType()) != heads * content ||
      featuresOf(op.getQueryRotary().getType()) != heads * rotary ||
      featuresOf(op.getOutput().getType()) != heads * value) {
    return complain(op) << "has " << heads << " heads of " << content << " + "
                        << rotary << " channels and values of " << value
                        << ", but query, rotary query and output are "
                        << op.getQuery().getType() << ", "
                        << op.getQueryRotary().getType() << " and "
                        << op.getOutput().getType();
  }
  return success();
}

LogicalResult LatentAttentionOp::verify() {
  if (failed(verifyWidths(*this, featuresOf(getLatent().getType()),
                          featuresOf(getKeyRotary().getType())))) {
    return failure();
  }
  // C3
  if (failed(verifyRotated(*this, getQueryRotary(), "query"))) {
    return failure();
  }
  return verifyRotated(*this, getKeyRotary(), "key");
}

LogicalResult PagedLatentAttentionOp::verify() {
  KvType cache = getCache().getType();
  // C4
  if (!cache.getLatent()) {
    return complain(*this) << "reads latents from " << cache;
  }
  if (failed(verifyWidths(*this, cache.getKey(), cache.getValue()))) {
    return failure();
  }
  // C3
  return verifyRotated(*this, getQueryRotary(), "query");
}

} // namespace quire::lm
