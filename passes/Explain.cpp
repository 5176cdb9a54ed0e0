#include "passes/Explain.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace quire {

static constexpr llvm::StringLiteral kAttribute = "quire.explain";

void explain(ModuleOp module, llvm::StringRef pass, const llvm::Twine &text) {
  Builder builder(module.getContext());
  llvm::SmallVector<Attribute> lines;
  if (auto old = module->getAttrOfType<ArrayAttr>(kAttribute)) {
    lines.append(old.begin(), old.end());
  }
  lines.push_back(builder.getStringAttr(pass + ": " + text));
  module->setAttr(kAttribute, builder.getArrayAttr(lines));
}

void printExplanations(ModuleOp module, llvm::raw_ostream &os) {
  if (auto lines = module->getAttrOfType<ArrayAttr>(kAttribute)) {
    for (auto line : lines.getAsRange<StringAttr>()) {
      os << line.getValue() << "\n";
    }
  }
}

} // namespace quire
