// From the `lm` weight ops in a slot's region to plain data.

#include "codegen/weights/FoldWeights.h"
#include "codegen/weights/PackWeights.h"
#include "codegen/weights/QuantizeRows.h"

#include "llvm/ADT/TypeSwitch.h"

namespace quire {

using namespace mlir;

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

  /// All of the slot.
  FailureOr<WeightExpression> read();
  /// A weight, or one matrix of a stack, as values.
  FailureOr<WeightExpression> readOperand(Value value);

private:
  LogicalResult readValue(Value value);
  LogicalResult readMovable(Value value);
  LogicalResult readParam(lm::LoadParamOp load);
  LogicalResult readTakenRows(lm::TakeRowsOp take);
  LogicalResult readFold(lm::WeightType result, Value raising, Value query,
                         Value product);
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
        if (failed(readMovable(unpermute.getInput()))) {
          return failure();
        }
        auto head = static_cast<int64_t>(unpermute.getHeadDim());
        expression.moves.push_back({head, head, 0, true});
        return success();
      })
      .Case([&](lm::TakeRowsOp take) { return readTakenRows(take); })
      .Case([&](lm::FoldKeyOp fold) {
        return readFold(fold.getOutput().getType(), fold.getKey(),
                        fold.getQuery(), Value());
      })
      .Case([&](lm::FoldValueOp fold) {
        return readFold(fold.getOutput().getType(), fold.getValue(), Value(),
                        fold.getProduct());
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

/// A weight whose rows lie somewhere, so that others may move them.
LogicalResult ExpressionReader::readMovable(Value value) {
  if (failed(readValue(value))) {
    return failure();
  }
  if (expression.fold) {
    return complain() << " moves rows of a product of weights, which the "
                         "compiler cannot evaluate";
  }
  return success();
}

LogicalResult ExpressionReader::readTakenRows(lm::TakeRowsOp take) {
  lm::WeightType result = take.getOutput().getType();
  // The stack that rows are taken as is of one matrix itself.
  int64_t matrix = result.isStack() ? std::exchange(place.matrix, 0) : 0;
  if (failed(readMovable(take.getInput()))) {
    return failure();
  }
  auto heads = static_cast<int64_t>(take.getHeads());
  int64_t rows = result.isStack() ? result.getRows() : result.getRows() / heads;
  int64_t sourceRows = expression.rows / heads;
  expression.moves.push_back(
      {rows, sourceRows,
       static_cast<int64_t>(take.getBegin()) + matrix * sourceRows, false});
  expression.rows = result.getRows();
  return success();
}

FailureOr<WeightExpression> ExpressionReader::readOperand(Value value) {
  if (failed(readValue(value))) {
    return failure();
  }
  expression.format = NumberFormat::F32;
  return expression;
}

LogicalResult ExpressionReader::readFold(lm::WeightType result, Value raising,
                                         Value query, Value product) {
  auto fold = std::make_shared<WeightFold>();
  auto read = [&](Value value, int64_t matrix) {
    return ExpressionReader(slot, {place.layer, matrix}, symbols, checkpoint)
        .readOperand(value);
  };
  int64_t heads = cast<lm::WeightType>(raising.getType()).getMatrices();
  for (int64_t head = 0; head < heads; ++head) {
    auto matrix = read(raising, head);
    if (failed(matrix)) {
      return failure();
    }
    fold->raising.push_back(std::move(*matrix));
    if (!query) {
      continue;
    }
    auto other = read(query, head);
    if (failed(other)) {
      return failure();
    }
    fold->query.push_back(std::move(*other));
  }
  if (product) {
    auto other = read(product, 0);
    if (failed(other)) {
      return failure();
    }
    fold->product = std::move(*other);
  }
  expression.fold = std::move(fold);
  expression.sourceFormat = NumberFormat::F32;
  expression.sourceRowBytes = 0;
  expression.rows = result.getRows();
  expression.columns = result.getColumns();
  expression.isVector = false;
  return success();
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
  expression.source = tensor->bytes.subspan(
      static_cast<size_t>((matrix * stored.front() + first) *
                          expression.sourceRowBytes),
      static_cast<size_t>(expression.rows * expression.sourceRowBytes));
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

} // namespace quire
