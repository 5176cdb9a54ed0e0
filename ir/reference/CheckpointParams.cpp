#include "ir/reference/CheckpointParams.h"

#include "frontends/formats/Dequantize.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace quire::reference {

static std::string sourceName(lm::ParamOp param, int64_t layer) {
  std::string name = param.getSource().str();
  size_t place = name.find("{}");
  if (place != std::string::npos) {
    name.replace(place, 2, std::to_string(layer));
  }
  return name;
}

FailureOr<Weight> CheckpointParams::load(lm::ParamOp param, int64_t layer) {
  std::string name = sourceName(param, layer);
  const TensorView *tensor = checkpoint.find(name);
  if (!tensor) {
    param.emitError() << "the checkpoint " << checkpoint.path()
                      << " has no tensor '" << name << "'";
    return failure();
  }
  // Rows of the parameter within the tensor; all but the first dimension
  // must agree.
  ArrayRef<int64_t> shape = param.getShape();
  ArrayRef<int64_t> stored = tensor->shape;
  int64_t begin = param.getRowBegin();
  if (stored.size() != shape.size() ||
      stored.drop_front() != shape.drop_front() ||
      begin + shape.front() > stored.front()) {
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
  Weight weight;
  weight.shape.assign(shape.begin(), shape.end());
  int64_t rowBytes = tensor->bytes.size() / stored.front();
  int64_t count = shape.size() == 1 ? shape[0] : shape[0] * shape[1];
  weight.values.resize(count);
  dequantize(tensor->format,
             tensor->bytes.subspan(begin * rowBytes, shape[0] * rowBytes),
             weight.values);
  return weight;
}

} // namespace quire::reference
