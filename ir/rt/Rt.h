// The C++ face of the `rt` dialect: its attributes and ops. What each means is
// written in the .td files beside this header and collected in ir/README.md.

#ifndef QUIRE_IR_RT_RT_H
#define QUIRE_IR_RT_RT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/rt/RtDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/rt/RtAttrs.h.inc"

#define GET_OP_CLASSES
#include "ir/rt/RtOps.h.inc"

#endif
