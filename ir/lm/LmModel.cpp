// Verifiers of the frame of a model: parameters, cache groups, layers.

#include "ir/lm/TensorName.h"
#include "ir/lm/Verify.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace quire::lm {

/// The word for a layer in `param`'s list of formats.
static StringRef formatWord(ParamOp param, int64_t layer) {
  ArrayAttr formats = param.getFormats();
  size_t i = formats.size() == 1 ? 0 : static_cast<size_t>(layer);
  return cast<StringAttr>(formats[i]).getValue();
}

bool ParamOp::existsIn(int64_t layer) {
  return formatWord(*this, layer) != kNoFormat;
}

NumberFormat ParamOp::formatOf(int64_t layer) {
  return *symbolizeNumberFormat(formatWord(*this, layer));
}

bool ParamOp::hasTensorPerMatrix() {
  return getSource().contains(kExpertPlace);
}

std::string ParamOp::tensorName(int64_t layer, int64_t matrix) {
  return lm::tensorName(getSource(), layer, matrix);
}

LogicalResult ParamOp::verify() {
  // C1
  if (getShape().empty() || getShape().size() > 3 ||
      llvm::any_of(getShape(), [](int64_t size) { return size <= 0; })) {
    return complain(*this) << "@" << getSymName()
                           << " needs one to three positive dimensions";
  }
  if (getRowBegin() < 0) {
    return complain(*this) << "@" << getSymName()
                           << " begins at a negative row";
  }
  // C2
  auto layers = getLayers();
  size_t count = getFormats().size();
  if (count != 1 && !(layers && count == static_cast<size_t>(*layers))) {
    return complain(*this) << "@" << getSymName() << " has " << count
                           << " formats; it needs one, or one for each layer";
  }
  bool exists = false;
  for (Attribute format : getFormats()) {
    auto name = dyn_cast<StringAttr>(format);
    bool none = name && name.getValue() == kNoFormat;
    if (!none && (!name || !symbolizeNumberFormat(name.getValue()))) {
      return complain(*this) << "@" << getSymName()
                             << " has an unknown number format " << format;
    }
    exists |= !none;
  }
  if (!exists) {
    return complain(*this) << "@" << getSymName()
                           << " is in no layer: all its formats are "
                           << kNoFormat;
  }
  // C3
  if (getSource().contains(kLayerPlace) != layers.has_value()) {
    return complain(*this) << "@" << getSymName() << " has source \""
                           << getSource() << "\"; {} stands for the layer "
                           << "and belongs exactly where layers are given";
  }
  // C4
  if (hasTensorPerMatrix() && getShape().size() != 3) {
    return complain(*this) << "@" << getSymName() << " has source \""
                           << getSource() << "\"; {expert} stands for the "
                           << "place in a stack, which has three dimensions";
  }
  if (layers && *layers <= 0) {
    return complain(*this) << "@" << getSymName() << " has no layers";
  }
  return success();
}

LogicalResult CacheGroupOp::verify() {
  // C1
  ArrayRef<int64_t> layers = getLayers();
  if (layers.empty() || layers.front() < 0 ||
      std::adjacent_find(layers.begin(), layers.end(),
                         std::greater_equal<int64_t>()) != layers.end()) {
    return complain(*this) << "@" << getSymName()
                           << " needs its layers ascending, without repeats";
  }
  return success();
}

LogicalResult LayersOp::verify() {
  // C1
  if (getWhich().size() != getIndices().size()) {
    return complain(*this) << "has " << getWhich().size()
                           << " entries of `which` and " << getIndices().size()
                           << " of `indices`; they must be as many";
  }
  int64_t kinds = getKinds().size();
  for (int64_t which : getWhich()) {
    if (which < 0 || which >= kinds) {
      return complain(*this) << "runs kind number " << which << " of " << kinds;
    }
  }
  return success();
}

/// C3 and C4: what one kind reads exists in layer `layer`.
static LogicalResult verifyLayer(LayersOp layers, FunctionOpInterface kind,
                                 int64_t layer, SymbolTableCollection &table) {
  WalkResult result = kind->walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadParamOp>(op)) {
      auto param =
          table.lookupNearestSymbolFrom<ParamOp>(op, load.getParamAttr());
      if (!param || !load.getLayer()) {
        return WalkResult::advance();
      }
      if (layer < 0 || layer >= static_cast<int64_t>(*param.getLayers()) ||
          !param.existsIn(layer)) {
        complain(layers) << "runs layer " << layer << ", which "
                         << load.getParamAttr() << " does not have";
        return WalkResult::interrupt();
      }
      NumberFormat typed = load.getWeight().getType().getFormat();
      if (param.formatOf(layer) != typed) {
        complain(layers) << "runs " << kind.getName() << " for layer " << layer
                         << ", where " << load.getParamAttr() << " is "
                         << stringifyNumberFormat(param.formatOf(layer))
                         << " and not " << stringifyNumberFormat(typed);
        return WalkResult::interrupt();
      }
    } else if (auto cache = dyn_cast<CacheOp>(op)) {
      auto group =
          table.lookupNearestSymbolFrom<CacheGroupOp>(op, cache.getGroupAttr());
      if (group && !llvm::is_contained(group.getLayers(), layer)) {
        complain(layers) << "runs " << kind.getName() << " for layer " << layer
                         << ", which is not in cache group "
                         << cache.getGroupAttr();
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult LayersOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  SmallVector<Type> inputs{getInput().getType()};
  llvm::append_range(inputs, getCaptures().getTypes());
  inputs.push_back(IndexType::get(getContext()));
  SmallVector<FunctionOpInterface> kinds;
  for (auto name : getKinds().getAsRange<FlatSymbolRefAttr>()) {
    auto kind =
        symbolTable.lookupNearestSymbolFrom<FunctionOpInterface>(*this, name);
    // C2
    if (!kind) {
      return complain(*this) << "runs " << name << ", which is no function";
    }
    if (kind.getArgumentTypes() != ArrayRef<Type>(inputs) ||
        kind.getResultTypes() != ArrayRef<Type>(getOutput().getType())) {
      return complain(*this) << "runs " << name
                             << ", which does not take (rows, captures, "
                                "index) and give rows";
    }
    kinds.push_back(kind);
  }
  for (auto [which, layer] : llvm::zip_equal(getWhich(), getIndices())) {
    if (failed(verifyLayer(*this, kinds[which], layer, symbolTable))) {
      return failure();
    }
  }
  return success();
}

LogicalResult EmbedOp::verify() {
  WeightType weight = getWeight().getType();
  // C1
  if (weight.getShape().size() != 2 ||
      weight.getColumns() != featuresOf(getOutput().getType())) {
    return complain(*this) << "gives rows of " << getOutput().getType()
                           << " from " << weight
                           << "; it needs [vocabulary, features]";
  }
  return success();
}

} // namespace quire::lm
