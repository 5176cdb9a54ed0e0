// Which expressions belong where in the weight file.

#include "codegen/weights/PackWeights.h"
#include "codegen/weights/QuantizeRows.h"
#include "codegen/weights/WriteWeights.h"
#include "ir/rt/Layout.h"

namespace quire {

using namespace mlir;

/// Bytes that one matrix or vector takes in the file, or an error where the
/// compiler cannot write it.
static FailureOr<int64_t> bytesOf(rt::WeightOp slot,
                                  const WeightExpression &expression) {
  if (expression.isVector) {
    // f32; zeros fill its last 64 bytes.
    return layout::alignUp(expression.rows * 4);
  }
  if (!canPack(expression.format, expression.columns) ||
      (!expression.passesThrough() && !canQuantize(expression.format))) {
    return slot.emitError("weight '")
           << slot.getSymName() << "' has " << expression.columns
           << " inputs in a format that the compiler cannot write: "
           << StringRef(numberFormatName(expression.format));
  }
  return layout::packedWeightBytes(expression.format, expression.rows,
                                   expression.columns);
}

FailureOr<std::vector<WeightJob>> planWeights(ModuleOp module,
                                              const WeightPlacement &placement,
                                              const Checkpoint &checkpoint) {
  SymbolTable symbols(module);
  std::vector<WeightJob> jobs;
  for (const PlacedWeight &weight : placement.inFileOrder()) {
    rt::WeightOp slot = weight.slot;
    // The matrices of a stack follow each other.
    int64_t matrices = slot.getMatrices();
    int64_t end = weight.offset;
    for (int64_t matrix = 0; matrix < matrices; ++matrix) {
      FailureOr<WeightExpression> expression = readWeightExpression(
          slot, {weight.layer, matrix}, symbols, checkpoint);
      if (failed(expression)) {
        return failure();
      }
      FailureOr<int64_t> bytes = bytesOf(slot, *expression);
      if (failed(bytes)) {
        return failure();
      }
      jobs.push_back({slot.getSymName().str(), *expression, end, *bytes});
      end += *bytes;
    }
    if (end - weight.offset != weight.bytes) {
      return slot.emitError("weight '")
             << slot.getSymName() << "' has " << weight.bytes
             << " bytes in the module where its packed form takes "
             << end - weight.offset;
    }
  }
  return jobs;
}

} // namespace quire
