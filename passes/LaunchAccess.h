// What a launch reads and writes, from the kernels' argument tables: buffers
// by symbol, cache groups by number.

#ifndef QUIRE_PASSES_LAUNCHACCESS_H
#define QUIRE_PASSES_LAUNCHACCESS_H

#include "ir/rt/Rt.h"

#include "llvm/ADT/SetVector.h"

namespace quire {

struct LaunchAccess {
  llvm::SetVector<llvm::StringRef> reads, writes;
  llvm::SetVector<int64_t> readsGroups, writesGroups;
};

/// An unknown kernel or a missing argument is an error at the launch.
mlir::FailureOr<LaunchAccess> accessOf(rt::LaunchOp launch);

} // namespace quire

#endif
