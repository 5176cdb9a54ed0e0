// Finds the pass that breaks the numbers: interprets the module after each
// pass on one prompt and compares its logits with those of the module before
// the pass. An observer of runPipeline(); not for use from several threads.

#ifndef QUIRE_TOOLS_BISECT_PASSBISECT_H
#define QUIRE_TOOLS_BISECT_PASSBISECT_H

#include "ir/reference/LogitError.h"
#include "ir/reference/ParamSource.h"
#include "passes/Pipeline.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <string>
#include <vector>

namespace quire::bisect {

/// What one pass did to the logits.
struct PassChange {
  std::string phase;
  std::string pass;
  reference::LogitError change;     // beside the module before the pass
  reference::LogitError fromImport; // beside the imported module
  double bar = 0;                   // on change.typical

  /// False also for numbers that are none, and where the module does not run.
  bool isSound() const { return change.typical <= bar; }
};

class PassBisect {
public:
  /// `params` and `progress` must outlive this; `progress` hears of each pass
  /// when it is judged.
  PassBisect(reference::ParamSource &params, std::vector<int32_t> tokens,
             const PipelineOptions &options,
             std::function<void(const PassChange &)> progress);

  /// The reference of the first pass. On failure an error was reported.
  mlir::LogicalResult begin(mlir::ModuleOp imported);

  /// A PipelineObserver. Fails only where the module no longer runs, as then
  /// nothing behind it has a reference.
  mlir::LogicalResult observe(mlir::ModuleOp module, const Phase &phase,
                              std::string_view pass);

  const std::vector<PassChange> &changes() const { return judged; }
  /// Null where every pass is sound.
  const PassChange *firstWrong() const;

private:
  /// [tokens, vocabulary]; empty where the interpreter failed.
  std::vector<float> logitsOf(mlir::ModuleOp module);

  reference::ParamSource &params;
  std::vector<int32_t> tokens;
  const PipelineOptions &options;
  std::function<void(const PassChange &)> progress;
  std::vector<float> imported;
  std::vector<float> before;
  std::vector<PassChange> judged;
};

} // namespace quire::bisect

#endif
