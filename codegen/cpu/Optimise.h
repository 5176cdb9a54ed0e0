// The LLVM pipeline for a linked step module.

#ifndef QUIRE_CODEGEN_CPU_OPTIMISE_H
#define QUIRE_CODEGEN_CPU_OPTIMISE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace quire {

/// Makes everything but `entryPoints` internal, inlines kernels where they are
/// called with constants, and optimises. No fast-math: results do not depend
/// on what this does.
void optimise(llvm::Module &module, llvm::TargetMachine &machine,
              llvm::ArrayRef<llvm::StringRef> entryPoints);

} // namespace quire

#endif
