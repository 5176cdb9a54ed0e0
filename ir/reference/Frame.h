// What the handlers of ops work with: the values of one function call, and
// what the whole interpreter owns.

#ifndef QUIRE_IR_REFERENCE_FRAME_H
#define QUIRE_IR_REFERENCE_FRAME_H

#include "ir/reference/Interpreter.h"
#include "ir/reference/WeightEvaluator.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace quire::reference {

/// A cache group and one of its layers.
struct CacheRef {
  int64_t group = -1;
  int64_t layer = -1; // within the group
};

/// A value of the IR while it runs; which member counts follows from its type.
struct RuntimeValue {
  std::shared_ptr<const Rows> rows;
  CacheRef cache;
};

struct Frame;
using Handler = llvm::LogicalResult (*)(Frame &, mlir::Operation *);
using HandlerTable = llvm::StringMap<Handler>;

struct CacheGroup {
  std::string name;
  std::vector<int64_t> layers; // of the model, in page order
  KvCache cache;
};

/// Owned by the interpreter; lives as long as it does.
struct Interpreter::State {
  State(mlir::ModuleOp module, ParamSource &params, int64_t cacheBytes)
      : module(module), weights(params, cacheBytes) {}

  mlir::ModuleOp module;
  WeightEvaluator weights;
  std::vector<CacheGroup> groups;
  /// Prompts attend on materialised keys in whole blocks of so many tokens.
  int64_t materialisedBlock = 0;
  HandlerTable handlers;
  Probe probe;
  LaunchProbe launchProbe;
  const StepInput *input = nullptr; // of the step that runs
  llvm::StringMap<Rows> buffers;    // of an rt module, by symbol
};

/// A module that has been lowered: runs its `rt.sequence @step` (RtStep.cpp).
llvm::FailureOr<Rows> runRtStep(Interpreter::State &state);

/// One call of a function.
struct Frame {
  Interpreter::State &state;
  int64_t layer = -1; // the model's, -1 outside layers
  llvm::DenseMap<mlir::Value, RuntimeValue> values;

  const StepInput &input() const { return *state.input; }
  const Rows &rows(mlir::Value value) { return *values[value].rows; }
  /// Binds a result and shows it to the probe.
  void set(mlir::Value result, Rows rows);
};

/// Runs a function's ops; the results of its return go to `results`.
llvm::LogicalResult runFunction(Interpreter::State &state,
                                mlir::Operation *function,
                                llvm::ArrayRef<RuntimeValue> arguments,
                                int64_t layer,
                                llvm::SmallVectorImpl<RuntimeValue> &results);

/// Adds the handler of one kind of op.
template <typename OpTy, llvm::LogicalResult (*run)(Frame &, OpTy)>
void addHandler(HandlerTable &table) {
  table[OpTy::getOperationName()] = [](Frame &frame, mlir::Operation *op) {
    return run(frame, mlir::cast<OpTy>(op));
  };
}

// One for each op family; Interpreter.cpp calls them all.
void addModelHandlers(HandlerTable &table);
void addLinearHandlers(HandlerTable &table);
void addAttentionHandlers(HandlerTable &table);
void addElementwiseHandlers(HandlerTable &table);
void addExpertHandlers(HandlerTable &table);
void addLatentHandlers(HandlerTable &table);

} // namespace quire::reference

#endif
