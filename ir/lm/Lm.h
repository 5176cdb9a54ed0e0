// The C++ face of the `lm` dialect: its types, enums and ops. What each means
// is written in the .td files beside this header and collected in
// ir/README.md.

#ifndef QUIRE_IR_LM_LM_H
#define QUIRE_IR_LM_LM_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace quire::lm {

/// True for tensor<?xFxf32>: one row a token.
bool isRowsType(mlir::Type type);

/// Features of a row; the type must be a rows type or an !lm.activation.
int64_t featuresOf(mlir::Type type);

/// tensor<?xFxf32>.
mlir::RankedTensorType rowsType(mlir::MLIRContext *context, int64_t features);

/// What a parameter's formats say for a layer that lacks it.
inline constexpr llvm::StringLiteral kNoFormat = "none";

/// Attribute of a module whose latent attention has two forms: prompts are
/// materialised in whole blocks of so many tokens (see !lm.batch).
inline constexpr llvm::StringLiteral kMaterialisedBlock =
    "lm.materialised_block";

/// How people read an op in a message: the name in its location where it has
/// one ("layers.3.attn_q"), else the op's own name.
std::string modelName(mlir::Operation *op);

} // namespace quire::lm

#include "ir/lm/LmDialect.h.inc"
#include "ir/lm/LmEnums.h.inc"

namespace quire::lm {
/// Values of a row that are stored together (1 where there are no blocks).
int64_t blockValues(NumberFormat format);
} // namespace quire::lm

#define GET_TYPEDEF_CLASSES
#include "ir/lm/LmTypes.h.inc"

#define GET_OP_CLASSES
#include "ir/lm/LmOps.h.inc"

#endif
