// Finds the launch that breaks the numbers: runs an engine's own code on one
// prompt and stops behind every launch, compares what it wrote with what the
// interpreter's launch wrote, and puts the interpreter's values in its place.
// So every launch reads right values, and an error is named where it is made.
// Not for use from several threads.

#ifndef QUIRE_TOOLS_BISECT_LAUNCHBISECT_H
#define QUIRE_TOOLS_BISECT_LAUNCHBISECT_H

#include "codegen/cpu/StepPlan.h"
#include "ir/reference/Interpreter.h"
#include "runtime/Engine.h"
#include "tools/bisect/NativeBuffer.h"
#include "tools/bisect/NativeCache.h"

#include <optional>
#include <string>
#include <vector>

namespace quire::bisect {

/// What one launch did to the buffer, or cache, that it left furthest from the
/// interpreter's.
struct LaunchChange {
  int32_t number = -1;     // of the launch in the manifest
  std::string launch = {}; // "dense.mlp_down", as in the manifest
  int64_t layer = -1;      // -1: outside the layers
  std::string kernel;      // that wrote it
  std::string buffer;      // "@dense.mlp_down", "@kv_global keys"
  std::vector<std::string> tensors =
      {}; // of the checkpoint, that the kernel reads
  double error = 0;
  const char *unit = ""; // of the error and the bar
  double bar = 0;

  bool isSound() const { return error <= bar; }
};

class LaunchBisect {
public:
  /// `scheduled` is the module at the end of the pipeline that made the
  /// engine; all must outlive this.
  LaunchBisect(mlir::ModuleOp scheduled, reference::ParamSource &params,
               Engine &engine);

  /// Runs both. On failure an error was reported.
  mlir::LogicalResult run(const std::vector<int32_t> &tokens);

  /// In the order in which they ran.
  const std::vector<LaunchChange> &changes() const { return judged; }
  /// Null where every launch is sound.
  const LaunchChange *firstWrong() const;

private:
  struct Written {
    NativeBuffer buffer;
    reference::Rows rows;
  };
  /// One launch of the interpreter's step.
  struct Record {
    rt::LaunchOp launch;
    int64_t layer;
    std::vector<Written> buffers;
  };

  mlir::LogicalResult checkEngine();
  mlir::LogicalResult record(const std::vector<int32_t> &tokens);
  void compare(const Record &record, const QuireStep &step);
  void compareCaches(const Record &record, const QuireStep &step,
                     LaunchChange &worst);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  std::optional<StepPlan> plan;
  Engine &engine;
  reference::Interpreter interpreter;
  std::vector<Record> records;
  std::vector<LaunchChange> judged;
};

} // namespace quire::bisect

#endif
