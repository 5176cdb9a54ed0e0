#include "ir/reference/CheckpointParams.h"

#include "frontends/formats/Dequantize.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace quire::reference {

/// The values of one tensor that belong to the parameter, of `shape`.
static LogicalResult readTensor(const Checkpoint &checkpoint, lm::ParamOp param,
                                const std::string &name, int64_t layer,
                                ArrayRef<int64_t> shape, std::span<float> out) {
  const TensorView *tensor = checkpoint.find(name);
  if (!tensor) {
    param.emitError() << "the checkpoint " << checkpoint.path()
                      << " has no tensor '" << name << "'";
    return failure();
  }
  // Rows of the parameter within the tensor, or within each of its matrices;
  // all other dimensions must agree.
  SmallVector<int64_t> stored(ArrayRef<int64_t>(tensor->shape));
  if (stored.size() == 1 && shape.size() == 2) {
    stored.insert(stored.begin(), 1); // a matrix of one row
  }
  int64_t begin = param.getRowBegin();
  bool stack = shape.size() == 3;
  size_t rowsAt = stack ? 1 : 0;
  if (stored.size() != shape.size() ||
      ArrayRef(stored).drop_front(rowsAt + 1) != shape.drop_front(rowsAt + 1) ||
      (stack && stored.front() != shape.front()) ||
      begin + shape[rowsAt] > stored[rowsAt]) {
    param.emitError() << "tensor '" << name << "' has shape ["
                      << llvm::join(llvm::map_range(stored,
                                                    [](int64_t size) {
                                                      return std::to_string(
                                                          size);
                                                    }),
                                    ", ")
                      << "], which does not hold the parameter's rows";
    return failure();
  }
  StringRef format = lm::stringifyNumberFormat(param.formatOf(layer));
  if (StringRef(numberFormatName(tensor->format)) != format) {
    param.emitError() << "tensor '" << name << "' is stored as "
                      << StringRef(numberFormatName(tensor->format))
                      << ", not as " << format;
    return failure();
  }
  int64_t matrices = stack ? shape.front() : 1;
  int64_t rows = stored[rowsAt];
  int64_t rowBytes = tensor->bytes.size() / (matrices * rows);
  size_t count = out.size() / matrices;
  for (int64_t i = 0; i < matrices; ++i) {
    dequantize(tensor->format,
               tensor->bytes.subspan((i * rows + begin) * rowBytes,
                                     shape[rowsAt] * rowBytes),
               out.subspan(i * count, count));
  }
  return success();
}

FailureOr<Weight> CheckpointParams::load(lm::ParamOp param, int64_t layer) {
  ArrayRef<int64_t> shape = param.getShape();
  Weight weight;
  weight.shape.assign(shape.begin(), shape.end());
  weight.values.resize(ShapedType::getNumElements(shape));
  std::span<float> all(weight.values);
  int64_t tensors = param.hasTensorPerMatrix() ? shape.front() : 1;
  size_t count = all.size() / tensors;
  if (param.hasTensorPerMatrix()) {
    shape = shape.drop_front();
  }
  for (int64_t i = 0; i < tensors; ++i) {
    if (failed(readTensor(checkpoint, param, param.tensorName(layer, i), layer,
                          shape, all.subspan(i * count, count)))) {
      return failure();
    }
  }
  return weight;
}

} // namespace quire::reference
