// Verifiers of rotary embedding, attention and the cache.

#include "ir/lm/Verify.h"

using namespace mlir;

namespace quire::lm {

LogicalResult RopeTableOp::verify() {
  int64_t features = featuresOf(getOutput().getType());
  // C1
  if (features != 2 * static_cast<int64_t>(getInverseFrequency().size())) {
    return complain(*this) << "has " << getInverseFrequency().size()
                           << " rotary pairs but a table of " << features
                           << " features; it needs two for each pair";
  }
  return success();
}

LogicalResult RopeOp::verify() {
  int64_t headDim = getHeadDim();
  int64_t features = featuresOf(getInput().getType());
  int64_t rotary = featuresOf(getTable().getType());
  // C1
  if (headDim <= 0 || features % headDim != 0) {
    return complain(*this) << "rotates rows of " << features
                           << " features, which are not whole heads of "
                           << headDim;
  }
  // C2
  if (rotary % 2 != 0 || rotary > headDim) {
    return complain(*this) << "has a rotary width of " << rotary
                           << "; it must be even and at most the head's "
                           << headDim;
  }
  return success();
}

LogicalResult SliceHeadsOp::verify() {
  int64_t heads = getHeads();
  int64_t begin = getBegin();
  int64_t from = featuresOf(getInput().getType());
  int64_t taken = featuresOf(getOutput().getType());
  // C1
  if (heads <= 0 || from % heads != 0 || taken % heads != 0) {
    return complain(*this) << "takes " << taken << " of " << from
                           << " features, which are not " << heads << " heads";
  }
  // C2
  if (begin < 0 || begin > from / heads - taken / heads) {
    return complain(*this) << "takes " << taken / heads << " channels from "
                           << begin << " on of heads that have "
                           << from / heads;
  }
  return success();
}

LogicalResult ConcatHeadsOp::verify() {
  int64_t heads = getHeads();
  int64_t first = featuresOf(getFirst().getType());
  int64_t second = featuresOf(getSecond().getType());
  // C1
  if (heads <= 0 || first % heads != 0 ||
      (!getShared() && second % heads != 0)) {
    return complain(*this) << "joins rows of " << first << " and " << second
                           << " features, which are not " << heads << " heads";
  }
  // C2
  int64_t width = first + (getShared() ? heads * second : second);
  if (featuresOf(getOutput().getType()) != width) {
    return complain(*this) << "joins heads to " << width
                           << " features, but its result has "
                           << featuresOf(getOutput().getType());
  }
  return success();
}

/// Query heads over key/value heads, and the widths of query and output.
static LogicalResult verifyHeads(Operation *op, int64_t heads, int64_t kvHeads,
                                 int64_t keyDim, int64_t valueDim, Type query,
                                 Type output) {
  // C1
  if (heads <= 0 || kvHeads <= 0 || heads % kvHeads != 0) {
    return complain(op) << "has " << heads << " query heads over " << kvHeads
                        << " key/value heads, which is no multiple";
  }
  // C2
  if (featuresOf(query) != heads * keyDim ||
      featuresOf(output) != heads * valueDim) {
    return complain(op) << "has " << heads << " heads with keys of " << keyDim
                        << " and values of " << valueDim
                        << ", but query and output are " << query << " and "
                        << output;
  }
  return success();
}

LogicalResult AttentionOp::verify() {
  int64_t kvHeads = getKvHeads();
  int64_t keys = featuresOf(getKey().getType());
  int64_t values = featuresOf(getValue().getType());
  // C2
  if (kvHeads <= 0 || keys % kvHeads != 0 || values % kvHeads != 0) {
    return complain(*this) << "has keys of " << keys << " and values of "
                           << values << " features, which are not " << kvHeads
                           << " heads";
  }
  return verifyHeads(*this, getHeads(), kvHeads, keys / kvHeads,
                     values / kvHeads, getQuery().getType(),
                     getOutput().getType());
}

LogicalResult CacheOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto group =
      symbolTable.lookupNearestSymbolFrom<CacheGroupOp>(*this, getGroupAttr());
  // C1
  if (!group) {
    return complain(*this) << "names " << getGroupAttr()
                           << ", which is no lm.cache_group";
  }
  if (group.getType() != getCache().getType()) {
    return complain(*this) << "has type " << getCache().getType()
                           << " but its group " << getGroupAttr() << " is "
                           << group.getType();
  }
  return success();
}

LogicalResult KvAppendOp::verify() {
  KvType cache = getCache().getType();
  // C1
  if (featuresOf(getKey().getType()) != cache.getHeads() * cache.getKey() ||
      featuresOf(getValue().getType()) != cache.getHeads() * cache.getValue()) {
    return complain(*this) << "stores keys and values of " << getKey().getType()
                           << " and " << getValue().getType() << " in "
                           << cache;
  }
  return success();
}

LogicalResult PagedAttentionOp::verify() {
  KvType cache = getCache().getType();
  return verifyHeads(*this, getHeads(), cache.getHeads(), cache.getKey(),
                     cache.getValue(), getQuery().getType(),
                     getOutput().getType());
}

} // namespace quire::lm
