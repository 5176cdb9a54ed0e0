// Runs latent attention in its forms.

#include "ir/reference/Frame.h"
#include "ir/reference/Latent.h"

#include <numeric>

using namespace mlir;

namespace quire::reference {

static_assert(static_cast<int>(lm::RowForm::Latent) ==
              static_cast<int>(RowForm::Latent));
static_assert(static_cast<int>(lm::RowForm::Materialised) ==
              static_cast<int>(RowForm::Materialised));

static std::vector<int64_t> rowsOfForm(Frame &frame, lm::RowForm form) {
  return rowsOfForm(frame.input(), frame.state.materialisedBlock,
                    static_cast<RowForm>(form));
}

static LogicalResult runHeadLinear(Frame &frame, lm::HeadLinearOp op) {
  auto weight = frame.state.weights.evaluate(op.getWeight(), frame.layer);
  if (failed(weight)) {
    return failure();
  }
  frame.set(op.getOutput(), headLinear(frame.rows(op.getInput()), **weight,
                                       op.getTransposed()));
  return success();
}

/// The batch's rows that the operands of an attention hold, all of them or
/// those of one form; an error where they are of another number.
template <typename Op>
static FailureOr<std::vector<int64_t>> rowsOf(Frame &frame, Op op) {
  std::vector<int64_t> rows(frame.input().rows());
  std::iota(rows.begin(), rows.end(), 0);
  if (op.getRows()) {
    rows = rowsOfForm(frame, *op.getRows());
  }
  int64_t count = frame.rows(op.getQuery()).rows;
  if (count != static_cast<int64_t>(rows.size()) ||
      frame.rows(op.getQueryRotary()).rows != count) {
    op.emitError() << "has queries of " << count << " rows where the batch has "
                   << rows.size() << " of that form";
    return failure();
  }
  return rows;
}

/// Attends with what both ops have in common.
template <typename Op>
static LogicalResult attend(Frame &frame, Op op, LatentAttention attention,
                            ArrayRef<Visible> seen) {
  WeightPtr keyUp, valueUp;
  if (op.isRaised()) {
    auto key = frame.state.weights.evaluate(op.getKeyUp(), frame.layer);
    auto value = frame.state.weights.evaluate(op.getValueUp(), frame.layer);
    if (failed(key) || failed(value)) {
      return failure();
    }
    keyUp = *key;
    valueUp = *value;
  }
  attention.heads = op.getHeads();
  attention.scale = op.getScale().convertToDouble();
  attention.keyUp = keyUp.get();
  attention.valueUp = valueUp.get();
  frame.set(op.getOutput(),
            attendLatents(attention, frame.rows(op.getQuery()),
                          frame.rows(op.getQueryRotary()), seen));
  return success();
}

static LogicalResult runLatentAttention(Frame &frame,
                                        lm::LatentAttentionOp op) {
  const Rows &latent = frame.rows(op.getLatent());
  const Rows &rotary = frame.rows(op.getKeyRotary());
  auto rows = rowsOf(frame, op);
  if (failed(rows)) {
    return failure();
  }
  std::vector<Visible> seen(rows->size());
  for (size_t i = 0; i < rows->size(); ++i) {
    if (frame.input().group.front().slot[(*rows)[i]] < 0) {
      continue;
    }
    for (int64_t other : visibleRows(frame.input(), (*rows)[i], 0)) {
      seen[i].keys.push_back(latent.row(other).data());
      seen[i].values.push_back(rotary.row(other).data());
    }
  }
  return attend(frame, op, {.rank = latent.features, .rotary = rotary.features},
                seen);
}

static LogicalResult runPagedLatentAttention(Frame &frame,
                                             lm::PagedLatentAttentionOp op) {
  CacheRef ref = frame.values[op.getCache()].cache;
  const KvCache &cache = frame.state.groups[ref.group].cache;
  auto rows = rowsOf(frame, op);
  if (failed(rows)) {
    return failure();
  }
  auto seen = visibleToRows(cache, ref.layer, frame.input(), ref.group, *rows);
  if (!seen.ok()) {
    return op.emitError() << std::string(seen.status().message());
  }
  return attend(
      frame, op,
      {.rank = cache.shape().keyDim, .rotary = cache.shape().valueDim}, *seen);
}

static LogicalResult runSelectForm(Frame &frame, lm::SelectFormOp op) {
  frame.set(op.getOutput(), selectRows(frame.rows(op.getInput()),
                                       rowsOfForm(frame, op.getForm())));
  return success();
}

static LogicalResult runMergeForms(Frame &frame, lm::MergeFormsOp op) {
  const Rows &materialised = frame.rows(op.getMaterialised());
  const Rows &latent = frame.rows(op.getLatent());
  std::vector<int64_t> rows = rowsOfForm(frame, lm::RowForm::Materialised);
  if (materialised.rows != static_cast<int64_t>(rows.size()) ||
      materialised.rows + latent.rows != frame.input().rows()) {
    return op.emitError() << "merges " << materialised.rows << " and "
                          << latent.rows << " rows where the batch has "
                          << rows.size() << " materialised ones of "
                          << frame.input().rows();
  }
  frame.set(op.getOutput(), mergeForms(materialised, latent, rows));
  return success();
}

void addLatentHandlers(HandlerTable &table) {
  addHandler<lm::HeadLinearOp, runHeadLinear>(table);
  addHandler<lm::LatentAttentionOp, runLatentAttention>(table);
  addHandler<lm::PagedLatentAttentionOp, runPagedLatentAttention>(table);
  addHandler<lm::SelectFormOp, runSelectForm>(table);
  addHandler<lm::MergeFormsOp, runMergeForms>(table);
}

} // namespace quire::reference
