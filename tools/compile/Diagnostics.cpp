#include "tools/compile/Diagnostics.h"

#include "frontends/formats/Utf8.h"
#include "ir/lm/Lm.h"
#include "ir/rt/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <iostream>

using namespace mlir;

namespace quire {

/// "where: what" of a diagnostic, where `where` is the model's name for it.
static void printDiagnostic(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error) {
    return;
  }
  std::string where;
  if (auto named = dyn_cast<NameLoc>(diagnostic.getLocation())) {
    where = named.getName().str() + ": ";
  }
  std::cerr << "quire: error: " << oneLine(where + diagnostic.str()) << "\n";
}

void prepareContext(MLIRContext &context) {
  context.loadDialect<lm::LmDialect, rt::RtDialect, func::FuncDialect>();
  context.getDiagEngine().registerHandler(printDiagnostic);
}

LogicalResult reportError(const absl::Status &status) {
  std::cerr << "quire: error: " << oneLine(std::string(status.message()))
            << "\n";
  return failure();
}

} // namespace quire
