// Runs rotary embedding, attention and the cache.

#include "ir/reference/Attention.h"
#include "ir/reference/Frame.h"
#include "ir/reference/Heads.h"
#include "ir/reference/Rope.h"

using namespace mlir;

namespace quire::reference {

static LogicalResult runRopeTable(Frame &frame, lm::RopeTableOp op) {
  RopeTable table;
  table.inverseFrequency = {op.getInverseFrequency().data(),
                            op.getInverseFrequency().size()};
  table.amplitude = op.getAmplitude().convertToDouble();
  table.dynamicContext = op.getDynamicContext();
  table.dynamicBase = op.getDynamicBase().convertToDouble();
  table.dynamicFactor = op.getDynamicFactor().convertToDouble();
  frame.set(op.getOutput(), ropeTable(table, frame.input().position));
  return success();
}

static LogicalResult runRope(Frame &frame, lm::RopeOp op) {
  frame.set(op.getOutput(),
            rope(frame.rows(op.getInput()), frame.rows(op.getTable()),
                 op.getHeadDim(), op.getInterleaved()));
  return success();
}

static LogicalResult runSliceHeads(Frame &frame, lm::SliceHeadsOp op) {
  int64_t heads = op.getHeads();
  int64_t size = lm::featuresOf(op.getOutput().getType()) / heads;
  frame.set(op.getOutput(),
            sliceHeads(frame.rows(op.getInput()), heads, op.getBegin(), size));
  return success();
}

static LogicalResult runConcatHeads(Frame &frame, lm::ConcatHeadsOp op) {
  frame.set(op.getOutput(),
            concatHeads(frame.rows(op.getFirst()), frame.rows(op.getSecond()),
                        op.getHeads(), op.getShared()));
  return success();
}

static LogicalResult runAttention(Frame &frame, lm::AttentionOp op) {
  const Rows &query = frame.rows(op.getQuery());
  const Rows &key = frame.rows(op.getKey());
  const Rows &value = frame.rows(op.getValue());
  AttentionShape shape;
  shape.heads = op.getHeads();
  shape.kvHeads = op.getKvHeads();
  shape.keyDim = key.features / shape.kvHeads;
  shape.valueDim = value.features / shape.kvHeads;
  shape.scale = op.getScale().convertToDouble();
  shape.softcap = op.getSoftcap().convertToDouble();
  Rows out(query.rows, shape.heads * shape.valueDim);
  for (int64_t r = 0; r < query.rows; ++r) {
    if (frame.input().group.front().slot[r] < 0) {
      continue;
    }
    Visible visible;
    for (int64_t seen : visibleRows(frame.input(), r, op.getWindow())) {
      visible.keys.push_back(key.row(seen).data());
      visible.values.push_back(value.row(seen).data());
    }
    attendRow(shape, query.row(r).data(), visible, out.row(r).data());
  }
  frame.set(op.getOutput(), std::move(out));
  return success();
}

static LogicalResult runCache(Frame &frame, lm::CacheOp op) {
  for (size_t i = 0; i < frame.state.groups.size(); ++i) {
    const CacheGroup &group = frame.state.groups[i];
    if (group.name == op.getGroup()) {
      auto found = llvm::find(group.layers, frame.layer);
      if (found == group.layers.end()) {
        return op.emitError()
               << "layer " << frame.layer << " is not in " << op.getGroupAttr();
      }
      frame.values[op.getCache()].cache = {static_cast<int64_t>(i),
                                           found - group.layers.begin()};
      return success();
    }
  }
  return op.emitError() << "there is no cache group " << op.getGroupAttr();
}

static LogicalResult runKvAppend(Frame &frame, lm::KvAppendOp op) {
  CacheRef ref = frame.values[op.getCache()].cache;
  KvCache &cache = frame.state.groups[ref.group].cache;
  const Rows &key = frame.rows(op.getKey());
  const Rows &value = frame.rows(op.getValue());
  const std::vector<int32_t> &slots = frame.input().group[ref.group].slot;
  for (int64_t r = 0; r < key.rows; ++r) {
    if (slots[r] >= 0) {
      cache.store(ref.layer, slots[r], key.row(r).data(), value.row(r).data());
    }
  }
  frame.values[op.getOutput()].cache = ref;
  return success();
}

static LogicalResult runPagedAttention(Frame &frame, lm::PagedAttentionOp op) {
  CacheRef ref = frame.values[op.getCache()].cache;
  const KvCache &cache = frame.state.groups[ref.group].cache;
  const Rows &query = frame.rows(op.getQuery());
  AttentionShape shape;
  shape.heads = op.getHeads();
  shape.kvHeads = cache.shape().kvHeads;
  shape.keyDim = cache.shape().keyDim;
  shape.valueDim = cache.shape().valueDim;
  shape.scale = op.getScale().convertToDouble();
  shape.softcap = op.getSoftcap().convertToDouble();
  Rows out(query.rows, shape.heads * shape.valueDim);
  for (int64_t r = 0; r < query.rows; ++r) {
    if (frame.input().group[ref.group].slot[r] < 0) {
      continue;
    }
    auto visible = visibleIn(cache, ref.layer, frame.input(), ref.group, r,
                             cache.shape().window);
    if (!visible.ok()) {
      return op.emitError() << std::string(visible.status().message());
    }
    attendRow(shape, query.row(r).data(), *visible, out.row(r).data());
  }
  frame.set(op.getOutput(), std::move(out));
  return success();
}

void addAttentionHandlers(HandlerTable &table) {
  addHandler<lm::RopeTableOp, runRopeTable>(table);
  addHandler<lm::RopeOp, runRope>(table);
  addHandler<lm::SliceHeadsOp, runSliceHeads>(table);
  addHandler<lm::ConcatHeadsOp, runConcatHeads>(table);
  addHandler<lm::AttentionOp, runAttention>(table);
  addHandler<lm::CacheOp, runCache>(table);
  addHandler<lm::KvAppendOp, runKvAppend>(table);
  addHandler<lm::PagedAttentionOp, runPagedAttention>(table);
}

} // namespace quire::reference
