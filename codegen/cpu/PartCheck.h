// Reads #rt.part attributes against the kernel table: after checkPart the
// emitter can look arguments up without further questions.

#ifndef QUIRE_CODEGEN_CPU_PARTCHECK_H
#define QUIRE_CODEGEN_CPU_PARTCHECK_H

#include "ir/rt/KernelTable.h"
#include "ir/rt/Rt.h"

namespace quire {

/// Every field has an argument of its kind, symbols exist, and there is no
/// argument that the kernel does not know. Diagnostics are at `launch`.
mlir::LogicalResult checkPart(rt::LaunchOp launch, rt::PartAttr part,
                              mlir::SymbolTable &symbols);

/// The weight slots a checked part reads, in field order.
llvm::SmallVector<mlir::FlatSymbolRefAttr, 2> weightSlotsOf(rt::PartAttr part);

} // namespace quire

#endif
