// The generated ops and attributes of `rt`, and its verifiers.

#include "ir/rt/Rt.h"

#include "ir/lm/Lm.h"
#include "ir/rt/Layout.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace quire::rt {

/// A name as a bare word: `f32`.
static ParseResult parseKeyword(OpAsmParser &parser, StringAttr &word) {
  StringRef text;
  if (parser.parseKeyword(&text)) {
    return failure();
  }
  word = parser.getBuilder().getStringAttr(text);
  return success();
}

static void printKeyword(OpAsmPrinter &printer, Operation *, StringAttr word) {
  printer << word.getValue();
}

} // namespace quire::rt

#include "ir/rt/RtDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/rt/RtAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "ir/rt/RtOps.cpp.inc"

namespace quire::rt {

void RtDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/rt/RtAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/rt/RtOps.cpp.inc"
      >();
}

LogicalResult BufferOp::verify() {
  // C1
  if (static_cast<int64_t>(getRows()) <= 0 ||
      static_cast<int64_t>(getRowBytes()) <= 0) {
    return emitOpError() << "@" << getSymName()
                         << " needs rows and row_bytes above zero";
  }
  if (getOffset() && static_cast<int64_t>(*getOffset()) % layout::kAlignment) {
    return emitOpError() << "@" << getSymName() << " lies at " << *getOffset()
                         << ", which is no multiple of " << layout::kAlignment;
  }
  return success();
}

int64_t WeightOp::matricesOfRow(PartAttr part) {
  auto top = part.getArgs().getAs<IntegerAttr>("top");
  return isStack() && top ? top.getInt() : getMatrices();
}

LogicalResult WeightOp::verify() {
  Block &block = getBody().front();
  auto pack = dyn_cast<PackOp>(block.getTerminator());
  auto packed = pack ? dyn_cast<lm::WeightType>(pack.getValue().getType())
                     : lm::WeightType();
  // C1
  if (!packed || packed.getShape() != getShape()) {
    return emitOpError() << "@" << getSymName()
                         << " must end in rt.pack of a weight of its shape";
  }
  StringRef format =
      packed.isVector() ? "f32" : lm::stringifyNumberFormat(packed.getFormat());
  if (format != getFormat()) {
    return emitOpError() << "@" << getSymName() << " is " << getFormat()
                         << " but packs " << packed;
  }
  // C2
  if (block.getNumArguments() != 1 ||
      !block.getArgument(0).getType().isIndex()) {
    return emitOpError() << "@" << getSymName()
                         << " takes one argument, the layer, an index";
  }
  return success();
}

LogicalResult LaunchOp::verify() {
  // C1
  if (getParts().empty() ||
      !llvm::all_of(getParts(), llvm::IsaPred<PartAttr>)) {
    return emitOpError() << "\"" << getOrigin()
                         << "\" needs at least one part, and only #rt.part";
  }
  return success();
}

LogicalResult LoopOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  // C1
  if (getWhich().size() != getIndices().size()) {
    return emitOpError() << "has " << getWhich().size()
                         << " entries of `which` and " << getIndices().size()
                         << " of `indices`; they must be as many";
  }
  int64_t kinds = getKinds().size();
  for (int64_t which : getWhich()) {
    if (which < 0 || which >= kinds) {
      return emitOpError() << "runs kind number " << which << " of " << kinds;
    }
  }
  // C2
  for (auto name : getKinds().getAsRange<FlatSymbolRefAttr>()) {
    if (!symbolTable.lookupNearestSymbolFrom<SequenceOp>(*this, name)) {
      return emitOpError() << "runs " << name << ", which is no rt.sequence";
    }
  }
  return success();
}

} // namespace quire::rt
