// A launch in LLVM IR: two functions of the types in the step ABI that fill
// the kernels' argument structs with constants and pointers and call them.
// Prints and looks up; whatever it relies on, StepPlan has checked.

#ifndef QUIRE_CODEGEN_CPU_EMITLAUNCH_H
#define QUIRE_CODEGEN_CPU_EMITLAUNCH_H

#include "codegen/cpu/StepPlan.h"
#include "ir/rt/KernelTable.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace quire {

struct LaunchFunctions {
  llvm::Function *tileCount; // QuireTileCountFn
  llvm::Function *tile;      // QuireTileFn
};

class LaunchEmitter {
public:
  LaunchEmitter(mlir::ModuleOp module, llvm::Module &target);

  LaunchFunctions emit(const PlannedSequence &sequence,
                       const PlannedLaunch &launch);

private:
  /// What the emission of one function carries along.
  struct Frame {
    Frame(const PlannedSequence &sequence, llvm::Function *function);

    const PlannedSequence &sequence;
    llvm::IRBuilder<> builder;
    llvm::Value *step;
    llvm::Value *layer;
  };

  llvm::Function *emitTileCount(const PlannedSequence &sequence,
                                const PlannedLaunch &launch);
  llvm::Function *emitTile(const PlannedSequence &sequence,
                           const PlannedLaunch &launch);

  llvm::Value *tileCountOf(Frame &frame, rt::PartAttr part);
  void runTile(Frame &frame, rt::PartAttr part, llvm::Value *tile,
               llvm::Value *scratch);

  // Hot kernels.
  llvm::Value *argumentStruct(Frame &frame, rt::PartAttr part);
  llvm::Value *argument(Frame &frame, const rt::KernelField &field,
                        mlir::Attribute value);
  llvm::Value *bufferPointer(Frame &frame, mlir::Attribute symbol);
  llvm::Value *weightPointer(Frame &frame, mlir::Attribute symbol);
  llvm::Value *constantTable(mlir::DenseF32ArrayAttr values);

  // Functions of the module.
  llvm::Value *rowCount(Frame &frame, rt::PartAttr part);
  void runGenerated(Frame &frame, rt::PartAttr part, llvm::Value *tile);

  mlir::SymbolTable symbols;
  llvm::Module &target;
  llvm::Type *pointer;
  llvm::Type *word;
};

} // namespace quire

#endif
