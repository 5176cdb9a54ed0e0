// Runs the frame of a model: the embedding, the layer loop, the choice of
// logit rows. Weight ops run when a product asks for their value.

#include "ir/reference/Frame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

using namespace mlir;

namespace quire::reference {

static LogicalResult runEmbed(Frame &frame, lm::EmbedOp op) {
  auto weight = frame.state.weights.evaluate(op.getWeight(), frame.layer);
  if (failed(weight)) {
    return failure();
  }
  float scale = static_cast<float>(op.getScale().convertToDouble());
  const Weight &table = **weight;
  Rows out(frame.input().rows(), table.columns());
  for (int64_t r = 0; r < out.rows; ++r) {
    int32_t token = frame.input().token[r];
    if (token < 0 || token >= table.rows()) {
      return op.emitError() << "row " << r << " has token " << token
                            << " of a vocabulary of " << table.rows();
    }
    std::ranges::transform(table.row(token), out.row(r).begin(),
                           [=](float value) { return value * scale; });
  }
  frame.set(op.getOutput(), std::move(out));
  return success();
}

static LogicalResult runLayers(Frame &frame, lm::LayersOp op) {
  SmallVector<RuntimeValue> arguments{frame.values[op.getInput()]};
  for (Value capture : op.getCaptures()) {
    arguments.push_back(frame.values[capture]);
  }
  arguments.emplace_back(); // the layer, which the frame knows
  for (auto [which, layer] : llvm::zip_equal(op.getWhich(), op.getIndices())) {
    auto name = cast<FlatSymbolRefAttr>(op.getKinds()[which]);
    Operation *kind = SymbolTable::lookupNearestSymbolFrom(op, name);
    SmallVector<RuntimeValue> results;
    if (failed(runFunction(frame.state, kind, arguments, layer, results))) {
      return failure();
    }
    arguments.front() = results.front();
  }
  frame.set(op.getOutput(), *arguments.front().rows);
  return success();
}

static LogicalResult runSelectLogitRows(Frame &frame,
                                        lm::SelectLogitRowsOp op) {
  const Rows &x = frame.rows(op.getInput());
  const std::vector<int32_t> &wanted = frame.input().logitRow;
  Rows out(wanted.size(), x.features);
  for (size_t i = 0; i < wanted.size(); ++i) {
    std::ranges::copy(x.row(wanted[i]), out.row(i).begin());
  }
  frame.set(op.getOutput(), std::move(out));
  return success();
}

/// Weight ops, and the numbers of layers, have no rows.
static LogicalResult skip(Frame &, Operation *) { return success(); }

void addModelHandlers(HandlerTable &table) {
  addHandler<lm::EmbedOp, runEmbed>(table);
  addHandler<lm::LayersOp, runLayers>(table);
  addHandler<lm::SelectLogitRowsOp, runSelectLogitRows>(table);
  table[lm::LoadParamOp::getOperationName()] = skip;
  table[lm::UnpermuteRotaryOp::getOperationName()] = skip;
  table[lm::AffineWeightOp::getOperationName()] = skip;
  table[lm::ConvertWeightOp::getOperationName()] = skip;
  table[lm::TakeRowsOp::getOperationName()] = skip;
  table[lm::FoldKeyOp::getOperationName()] = skip;
  table[lm::FoldValueOp::getOperationName()] = skip;
  table[arith::ConstantOp::getOperationName()] = skip;
}

} // namespace quire::reference
