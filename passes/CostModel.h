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
  double fixedBytes = 0;  // whatever the rows: weights, cached tokens
  double bytesPerRow = 0; // activations in and out
  double addsPerRow = 0;  // multiply-adds
  double fixedAdds = 0;   // whatever the rows
  double weights = 0;     // values that are unpacked once per block of rows
  // Stacks of experts: bytes of all, and the part of them that a row chooses.
  double expertBytes = 0;
  double shareOfRow = 1;
  bool int8 = false; // which rate the multiply-adds run at
};

/// Cached tokens that a row of attention is predicted for: the step's depth is
/// not known when it is compiled. A window shorter than this counts instead.
inline constexpr int64_t kPredictedDepth = 1024;

/// Rows that a product keeps in registers while it unpacks a weight once.
/// Kernels are compiled for each of these and take the largest that fits.
inline constexpr int64_t kRowBlocks[] = {8, 4, 2, 1};

struct Prediction {
  int64_t rowBlock = 1;
  double microseconds = 0;
  bool readBound = false; // the read stream is what takes the time
};

/// What `rows` rows take in blocks of `rowBlock`.
Prediction predict(const KernelCost &cost, const MachineProfile &machine,
                   int64_t rows, int64_t rowBlock);

/// The row blocks that apply to `rows` rows, fastest first; the second is the
/// runner-up. Ops that are no products have one.
llvm::SmallVector<Prediction>
rankBlocks(const KernelCost &cost, const MachineProfile &machine, int64_t rows);

/// The cost of an op and the kernel that runs it. The rows of attention are
/// counted as one sequence with kPredictedDepth cached tokens.
struct KernelChoice {
  std::string kernel;
  KernelCost cost;
};
KernelChoice chooseKernel(mlir::Operation *op);

} // namespace quire

#endif
