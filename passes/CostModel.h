// What a kernel costs: bytes it must move, multiply-adds it must do, and the
// time both take on a machine. Plain arithmetic; printed by --explain.

#ifndef QUIRE_PASSES_COSTMODEL_H
#define QUIRE_PASSES_COSTMODEL_H

#include "ir/lm/Lm.h"

#include <string>

namespace quire {

/// What all workers together can do.
struct MachineProfile {
  double readGbps = 30;
  double int8Gops = 1000; // multiply-adds, 10^9 a second
  double f32Gops = 150;
};

struct KernelCost {
  double fixedBytes = 0;  // whatever the rows: weights
  double bytesPerRow = 0; // activations in and out
  double addsPerRow = 0;  // multiply-adds
  bool int8 = false;      // which rate they run at

  /// Microseconds for `rows` rows.
  double microseconds(const MachineProfile &machine, int64_t rows) const;
  /// Whether the read stream is what takes the time.
  bool readBound(const MachineProfile &machine, int64_t rows) const;
};

/// The cost of an op and the kernel that runs it. Attention is counted without
/// its context, which is not known here.
struct KernelChoice {
  std::string kernel;
  KernelCost cost;
};
KernelChoice chooseKernel(mlir::Operation *op);

} // namespace quire

#endif
