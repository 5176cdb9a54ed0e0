// The numbers that the emitted code and the manifest must agree on: which
// launch has which number, and where in its layer's offset table a sequence
// finds each of its weight slots. Reads the rt module and checks what the code
// relies on; decides nothing.

#ifndef QUIRE_CODEGEN_CPU_STEPPLAN_H
#define QUIRE_CODEGEN_CPU_STEPPLAN_H

#include "ir/rt/Rt.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

#include <string>
#include <vector>

namespace quire {

/// The sequence that is the step's entry.
inline constexpr llvm::StringLiteral kStepSequence = "step";
/// The buffer that is the step's result and lies outside the arena.
inline constexpr llvm::StringLiteral kLogitsBuffer = "logits";

struct PlannedLaunch {
  rt::LaunchOp op;
  std::string name; // "dense.ffn_down"
};

struct PlannedSequence {
  rt::SequenceOp op;
  /// Weight slots in the order of their entries in the offset table.
  llvm::SetVector<mlir::StringAttr> slots;

  int64_t slotIndex(mlir::StringAttr slot) const {
    return llvm::find(slots, slot) - slots.begin();
  }
};

class StepPlan {
public:
  /// Diagnostics name the op that does not fit.
  static mlir::FailureOr<StepPlan> build(mlir::ModuleOp module);

  /// A launch's number is its place here.
  const std::vector<PlannedLaunch> &launches() const { return allLaunches; }
  int32_t numberOf(rt::LaunchOp launch) const {
    return numbers.lookup(launch.getOperation());
  }
  const std::vector<PlannedSequence> &sequences() const { return allSequences; }
  /// Null when there is none of that name.
  const PlannedSequence *find(llvm::StringRef name) const;

private:
  mlir::LogicalResult addSequence(mlir::SymbolTable &symbols,
                                  rt::SequenceOp sequence);

  std::vector<PlannedLaunch> allLaunches;
  llvm::DenseMap<mlir::Operation *, int32_t> numbers;
  std::vector<PlannedSequence> allSequences;
};

} // namespace quire

#endif
