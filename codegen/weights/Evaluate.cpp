#include "codegen/weights/Evaluate.h"

#include "codegen/weights/PackWeights.h"
#include "codegen/weights/QuantizeRows.h"
#include "frontends/formats/Dequantize.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cstring>

namespace quire {

using namespace mlir;

int64_t WeightExpression::sourceRow(int64_t row) const {
  // From the last op back to the parameter.
  for (auto head = unpermutedHeads.rbegin(); head != unpermutedHeads.rend();
       ++head) {
    int64_t half = *head / 2;
    int64_t inHead = row % *head;
    row = row - inHead + 2 * (inHead % half) + inHead / half;
  }
  return row;
}

std::span<const std::byte> WeightExpression::storedRow(int64_t row) const {
  return source.subspan(static_cast<size_t>(sourceRow(row) * sourceRowBytes),
                        static_cast<size_t>(sourceRowBytes));
}

namespace {

/// lm's enum and the file readers' have the same names.
NumberFormat fileFormat(lm::NumberFormat format) {
  StringRef name = lm::stringifyNumberFormat(format);
  return *parseNumberFormat(std::string_view(name.data(), name.size()));
}

NumberFormat formatOf(Value weight) {
  return fileFormat(cast<lm::WeightType>(weight.getType()).getFormat());
}

class ExpressionReader {
public:
  ExpressionReader(rt::WeightOp slot, WeightPlace place, SymbolTable &symbols,
                   const Checkpoint &checkpoint)
      : slot(slot), place(place), symbols(symbols), checkpoint(checkpoint) {}

  FailureOr<WeightExpression> read();

private:
  LogicalResult readValue(Value value);
  LogicalResult readParam(lm::LoadParamOp load);
  LogicalResult addStep(Operation *op, float scale, float offset);
  InFlightDiagnostic complain() {
    InFlightDiagnostic diagnostic = slot.emitError("weight '");
    diagnostic << slot.getSymName() << "'";
    if (place.layer >= 0) {
      diagnostic << " of layer " << place.layer;
    }
    return diagnostic;
  }

  rt::WeightOp slot;
  WeightPlace place;
  SymbolTable &symbols;
  const Checkpoint &checkpoint;
  WeightExpression expression;
};

} // namespace

LogicalResult ExpressionReader::addStep(Operation *op, float scale,
                                        float offset) {
  WeightStep step{scale, offset, formatOf(op->getResult(0))};
  bool changesNothing =
      scale == 1 && offset == 0 && step.format == formatOf(op->getOperand(0));
  if (changesNothing) {
    return success();
  }
  if (!canQuantize(step.format) && step.format != NumberFormat::F32) {
    return complain() << " asks for a conversion to "
                      << StringRef(numberFormatName(step.format))
                      << ", which the compiler does not write";
  }
  expression.steps.push_back(step);
  return success();
}

LogicalResult ExpressionReader::readValue(Value value) {
  Operation *op = value.getDefiningOp();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](lm::LoadParamOp load) { return readParam(load); })
      .Case([&](lm::UnpermuteRotaryOp unpermute) -> LogicalResult {
        if (failed(readValue(unpermute.getInput()))) {
          return failure();
        }
        expression.unpermutedHeads.push_back(
            static_cast<int64_t>(unpermute.getHeadDim()));
        return success();
      })
      .Case([&](lm::AffineWeightOp affine) -> LogicalResult {
        if (failed(readValue(affine.getInput()))) {
          return failure();
        }
        return addStep(
            affine, static_cast<float>(affine.getScale().convertToDouble()),
            static_cast<float>(affine.getOffset().convertToDouble()));
      })
      .Case([&](lm::ConvertWeightOp convert) -> LogicalResult {
        if (failed(readValue(convert.getInput()))) {
          return failure();
        }
        return addStep(convert, 1, 0);
      })
      .Default([&](Operation *) {
        return complain() << " is computed by an op that the compiler cannot "
                             "evaluate";
      });
}

LogicalResult ExpressionReader::readParam(lm::LoadParamOp load) {
  auto param = symbols.lookup<lm::ParamOp>(load.getParamAttr().getAttr());
  if (!param) {
    return complain() << " loads @" << load.getParam()
                      << ", which the module does not have";
  }
  std::string name = param.tensorName(place.layer, place.matrix);
  const TensorView *tensor = checkpoint.find(name);
  if (tensor == nullptr) {
    return complain() << ": the checkpoint has no tensor '" << name << "'";
  }
  NumberFormat format = formatOf(load.getWeight());
  if (tensor->format != format) {
    return complain() << ": tensor '" << name << "' is stored as "
                      << StringRef(numberFormatName(tensor->format))
                      << ", the module expects "
                      << StringRef(numberFormatName(format));
  }
  // A stack's tensor is looked at as the matrix at hand and what lies before.
  ArrayRef<int64_t> shape = param.getShape();
  SmallVector<int64_t> whole(ArrayRef<int64_t>(tensor->shape));
  if (whole.size() == 1 && shape.size() == 2) {
    whole.insert(whole.begin(), 1); // a matrix of one row
  }
  ArrayRef<int64_t> stored = whole;
  int64_t matrix = 0;
  bool fits = true;
  if (shape.size() == 3) {
    if (!param.hasTensorPerMatrix()) {
      matrix = place.matrix;
      fits = stored.size() == 3 && stored.front() == shape.front();
      stored = stored.drop_front(fits ? 1 : 0);
    }
    shape = shape.drop_front();
  }
  expression.isVector = shape.size() == 1;
  expression.rows = shape.front();
  expression.columns = expression.isVector ? 1 : shape.back();
  int64_t first = static_cast<int64_t>(param.getRowBegin());
  if (!fits || stored.size() != shape.size() ||
      stored.front() < first + expression.rows ||
      (!expression.isVector && stored.back() != expression.columns)) {
    return complain() << ": tensor '" << name
                      << "' has another shape than the module expects";
  }
  if (expression.isVector && numberFormatInfo(format).blockValues != 1) {
    return complain() << ": tensor '" << name
                      << "' is a vector in blocks, which is not supported";
  }
  expression.sourceFormat = format;
  expression.sourceRowBytes = storedRowBytes(format, expression.columns);
  expression.source = tensor->bytes.subspan(static_cast<size_t>(
      (matrix * stored.front() + first) * expression.sourceRowBytes));
  return success();
}

FailureOr<WeightExpression> ExpressionReader::read() {
  auto pack = dyn_cast<rt::PackOp>(slot.getBody().front().back());
  if (!pack) {
    return complain() << " does not end in rt.pack";
  }
  if (failed(readValue(pack.getValue()))) {
    return failure();
  }
  NumberFormat result = formatOf(pack.getValue());
  expression.format = expression.isVector ? NumberFormat::F32 : result;
  // The packer rounds to the result's format itself.
  if (!expression.steps.empty()) {
    expression.steps.back().format = NumberFormat::F32;
  }
  StringRef named = slot.getFormat();
  if (!expression.isVector &&
      named != StringRef(numberFormatName(expression.format))) {
    return complain() << " is " << named << ", but its region computes "
                      << StringRef(numberFormatName(expression.format));
  }
  return expression;
}

FailureOr<WeightExpression> readWeightExpression(rt::WeightOp slot,
                                                 WeightPlace place,
                                                 SymbolTable &symbols,
                                                 const Checkpoint &checkpoint) {
  return ExpressionReader(slot, place, symbols, checkpoint).read();
}

void gatherStoredRows(const WeightExpression &expression, int64_t firstRow,
                      int64_t count, std::span<std::byte> out) {
  for (int64_t row = 0; row < count; ++row) {
    std::span<const std::byte> stored = expression.storedRow(firstRow + row);
    std::memcpy(out.data() + row * expression.sourceRowBytes, stored.data(),
                stored.size());
  }
}

/// Rounds a row to a format that it does not stay in.
static void roundRow(NumberFormat format, std::span<float> row) {
  if (format == NumberFormat::F32) {
    return;
  }
  std::vector<std::byte> stored(static_cast<size_t>(
      storedRowBytes(format, static_cast<int64_t>(row.size()))));
  quantizeRow(format, row, stored);
  if (format == NumberFormat::Int8Row) {
    dequantizeInt8Row(stored, row);
  } else {
    dequantize(format, stored, row);
  }
}

void evaluateRows(const WeightExpression &expression, int64_t firstRow,
                  int64_t count, std::span<float> out) {
  auto columns = static_cast<size_t>(expression.columns);
  for (int64_t row = 0; row < count; ++row) {
    std::span<float> values =
        out.subspan(static_cast<size_t>(row) * columns, columns);
    dequantize(expression.sourceFormat, expression.storedRow(firstRow + row),
               values);
    for (const WeightStep &step : expression.steps) {
      for (float &value : values) {
        value = value * step.scale + step.offset;
      }
      roundRow(step.format, values);
    }
  }
}

} // namespace quire
