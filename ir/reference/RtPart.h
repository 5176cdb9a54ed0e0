// One part of a launch while it runs: its arguments by field name, as
// ir/rt/KernelTable.h names them.

#ifndef QUIRE_IR_REFERENCE_RTPART_H
#define QUIRE_IR_REFERENCE_RTPART_H

#include "ir/reference/Frame.h"
#include "ir/rt/Rt.h"

namespace quire::reference {

class RtPart {
public:
  RtPart(Interpreter::State &state, rt::LaunchOp launch, unsigned number,
         int64_t layer)
      : state(state), launch(launch), number(number), layerNumber(layer),
        part(mlir::cast<rt::PartAttr>(launch.getParts()[number])) {}

  llvm::StringRef kernel() const { return part.getKernel(); }
  const StepInput &input() const { return *state.input; }
  int64_t layer() const { return layerNumber; }
  mlir::InFlightDiagnostic error();

  int64_t integer(llvm::StringRef field) const;
  double number64(llvm::StringRef field) const;
  llvm::ArrayRef<float> table(llvm::StringRef field) const;
  /// True where the field is a null pointer.
  bool isNull(llvm::StringRef field) const;
  /// What was last written to a buffer; null, with an error, where nothing
  /// was.
  const Rows *read(llvm::StringRef field);
  const Rows *read(mlir::FlatSymbolRefAttr buffer);
  /// Replaces a buffer's rows; nothing for a null field. The probe sees them.
  void write(llvm::StringRef field, Rows rows);
  void write(mlir::FlatSymbolRefAttr buffer, Rows rows);
  /// A weight slot's value in the part's layer; a null field gives null.
  llvm::FailureOr<WeightPtr> weight(llvm::StringRef field);
  llvm::ArrayRef<mlir::Attribute> list(llvm::StringRef field) const;

  /// The cache group the part works on, and the layer's place in it.
  KvCache &cache();
  int64_t layerInGroup();

  Interpreter::State &state;
  rt::LaunchOp launch;

private:
  unsigned number; // of the part in its launch
  int64_t layerNumber;
  rt::PartAttr part;
};

/// What runs a kernel, by the kernel's name without its format.
using KernelRunners = llvm::StringMap<llvm::LogicalResult (*)(RtPart &)>;
void addExpertKernels(KernelRunners &kernels); // RtExpertKernels.cpp
void addLatentKernels(KernelRunners &kernels); // RtLatentKernels.cpp

/// Runs one part; RtKernels.cpp and the files above have one function for each
/// kernel.
llvm::LogicalResult runPart(RtPart &part);

} // namespace quire::reference

#endif
