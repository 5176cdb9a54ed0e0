// Runs a module of any phase on plain f32 reference functions: the oracle for
// passes, kernels and whole models. Holds the caches between steps, so that a
// sequence can be fed in chunks or token by token. Not for use from several
// threads.

#ifndef QUIRE_IR_REFERENCE_INTERPRETER_H
#define QUIRE_IR_REFERENCE_INTERPRETER_H

#include "ir/reference/KvCache.h"
#include "ir/reference/ParamSource.h"
#include "ir/reference/StepInput.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <memory>

namespace quire::reference {

struct InterpreterOptions {
  /// Evaluated weights kept in memory between uses; the rest is evaluated
  /// again each time.
  int64_t weightCacheBytes = int64_t{4} << 30;
};

/// Called with every row value an op gives: the op, the layer it ran for (-1
/// outside layers), the number of the result, and the rows.
using Probe = std::function<void(mlir::Operation *, int64_t layer,
                                 unsigned result, const Rows &)>;

/// Called after each launch of an rt module's step, with the layer it ran for
/// (-1 outside layers).
using LaunchProbe = std::function<void(mlir::Operation *, int64_t layer)>;

class Interpreter {
public:
  /// The module must have verified; it and `params` must outlive this.
  Interpreter(mlir::ModuleOp module, ParamSource &params,
              InterpreterOptions options = {});
  ~Interpreter();

  /// Runs one step: [logit rows, vocabulary]. On failure an error was
  /// reported at the op that could not be run.
  llvm::FailureOr<Rows> step(const StepInput &input);

  void setProbe(Probe probe);
  void setLaunchProbe(LaunchProbe probe);

  /// What an rt module's step last wrote to a buffer; null: nothing.
  const Rows *buffer(llvm::StringRef symbol) const;

  /// Page sizes of the module's cache groups, in their order ({16} where it
  /// has none): what chainStep wants.
  std::vector<int64_t> pageSizes() const;

  /// Cache group number `group`, for tests that move or inspect entries.
  KvCache &cache(int64_t group);

  struct State; // shared with the op handlers (Frame.h)

private:
  std::unique_ptr<State> state;
};

} // namespace quire::reference

#endif
