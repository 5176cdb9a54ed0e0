#include "passes/Formats.h"
#include "passes/LowerOps.h"

#include "ir/rt/KernelTable.h"

using namespace mlir;

namespace quire {

FlatSymbolRefAttr LoweringScope::createBuffer(StringRef name, Type type,
                                              int64_t rowSet) {
  std::string unique = name.str();
  for (int i = 2; module.lookupSymbol(unique) != nullptr; ++i) {
    unique = (name + "_" + llvm::Twine(i)).str();
  }
  int64_t rows = rowSet == rt::kRowsWithLogits ? maxLogitRows : maxRows;
  if (rowSet > rt::kPairRows) {
    rows *= rowSet - rt::kPairRows;
  }
  auto rounded = dyn_cast<lm::ActivationType>(type);
  StringRef format =
      rounded ? lm::stringifyActivationFormat(rounded.getFormat()) : "f32";
  int64_t rowBytes = llvm::divideCeil(bufferBytes(type, rows), rows);
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  rt::BufferOp::create(builder, builder.getUnknownLoc(), unique, format, rows,
                       rowBytes, IntegerAttr());
  return FlatSymbolRefAttr::get(module.getContext(), unique);
}

FlatSymbolRefAttr LoweringScope::bufferOf(Value value) {
  FlatSymbolRefAttr &buffer = buffers[value];
  if (!buffer) {
    Operation *definition = value.getDefiningOp();
    std::string name = "value";
    if (definition != nullptr) {
      auto function = definition->getParentOfType<func::FuncOp>();
      unsigned result = cast<OpResult>(value).getResultNumber();
      Location loc = definition->getLoc();
      if (auto fused = dyn_cast<FusedLoc>(loc)) {
        auto parts = fused.getLocations();
        loc = result < parts.size() ? parts[result] : loc;
      }
      auto named = dyn_cast<NameLoc>(loc);
      name = named ? named.getName().str()
                   : definition->getName().stripDialect().str();
      if (isa<lm::QuantizeActivationOp>(definition)) {
        name += "_q8";
      } else if (isa<lm::AddRmsNormOp>(definition) && result == 0) {
        name += "_sum";
      }
      name = (function.getName() + "." + name).str();
    }
    buffer = createBuffer(name, value.getType(), rowSetOf(value));
  }
  return buffer;
}

int64_t LoweringScope::rowSetOf(Value value) const {
  for (Operation *op = value.getDefiningOp(); op != nullptr;) {
    if (isa<lm::SelectLogitRowsOp>(op)) {
      return rt::kRowsWithLogits;
    }
    if (auto dispatch = dyn_cast<lm::DispatchOp>(op)) {
      return rt::kPairRows + dispatch.getGroups().getType().getTop();
    }
    if (auto select = dyn_cast<lm::SelectFormOp>(op)) {
      return select.getForm() == lm::RowForm::Materialised
                 ? rt::kMaterialisedRows
                 : rt::kLatentRows;
    }
    if (isa<lm::CombineOp, lm::MergeFormsOp>(op)) {
      return rt::kAllRows;
    }
    Operation *next = nullptr;
    for (Value operand : op->getOperands()) {
      if (lm::isRowsType(operand.getType()) ||
          isa<lm::ActivationType>(operand.getType())) {
        next = operand.getDefiningOp();
        break;
      }
    }
    op = next;
  }
  return rt::kAllRows;
}

lm::CacheGroupOp LoweringScope::group(StringRef name) {
  return module.lookupSymbol<lm::CacheGroupOp>(name);
}

int64_t LoweringScope::groupNumber(StringRef name) {
  int64_t number = 0;
  for (auto group : module.getOps<lm::CacheGroupOp>()) {
    if (group.getSymName() == name) {
      return number;
    }
    ++number;
  }
  return -1;
}

} // namespace quire
