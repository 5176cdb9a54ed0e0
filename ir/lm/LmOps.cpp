// The generated ops, and the small parsers their formats use.

#include "ir/lm/Lm.h"
#include "ir/lm/Verify.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace quire::lm {

/// Number formats, or none, as bare words: `[none, q4_k, q6_k]`.
static ParseResult parseFormats(OpAsmParser &parser, ArrayAttr &formats) {
  SmallVector<Attribute> names;
  auto one = [&]() -> ParseResult {
    StringRef word;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&word)) {
      return failure();
    }
    if (word != kNoFormat && !symbolizeNumberFormat(word)) {
      return parser.emitError(at)
             << "there is no number format '" << word << "'";
    }
    names.push_back(parser.getBuilder().getStringAttr(word));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, one)) {
    return failure();
  }
  formats = parser.getBuilder().getArrayAttr(names);
  return success();
}

static void printFormats(OpAsmPrinter &printer, Operation *,
                         ArrayAttr formats) {
  printer << '[';
  llvm::interleaveComma(formats, printer, [&](Attribute format) {
    printer << cast<StringAttr>(format).getValue();
  });
  printer << ']';
}

std::string modelName(Operation *op) {
  if (auto name = op->getLoc()->findInstanceOf<NameLoc>()) {
    return name.getName().str();
  }
  return op->getName().getStringRef().str();
}

InFlightDiagnostic complain(Operation *op) {
  InFlightDiagnostic diagnostic = op->emitOpError();
  if (op->getLoc()->findInstanceOf<NameLoc>()) {
    diagnostic << "in '" << modelName(op) << "': ";
  }
  return diagnostic;
}

} // namespace quire::lm

#define GET_OP_CLASSES
#include "ir/lm/LmOps.cpp.inc"

void quire::lm::LmDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "ir/lm/LmOps.cpp.inc"
      >();
}
