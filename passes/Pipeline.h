// The pipeline as data: one table of phases. Stopping, dumping, timing and
// switching passes off are loops over it.

#ifndef QUIRE_PASSES_PIPELINE_H
#define QUIRE_PASSES_PIPELINE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace quire {

/// Everything that passes may be told. The command line fills it.
struct PipelineOptions {
  std::string quantize = "keep";
  std::string kvFormat = "bf16";
  int64_t pageSize = 16;
  std::string mla = "auto"; // form of latent attention
  int64_t formBlock = 256;  // least prompt tokens that have a form together
  int64_t maxRows = 512;
  int64_t maxLogitRows = 128;
  double readGbps = 30; // machine profile
  double int8Gops = 1000;
  double f32Gops = 150;
  std::set<std::string> disabled; // names of optional passes
  std::string stopAfter;          // name of a phase; empty: all
};

/// What a pass may round: with any other, the model's logits stay as they are.
enum class Rounds { Nothing, Cache, Weights, Activations };

struct PipelinePass {
  std::string_view name; // as in Passes.td
  bool optional;         // may be switched off; the numbers stay equal
  std::unique_ptr<mlir::Pass> (*create)(const PipelineOptions &);
  Rounds rounds = Rounds::Nothing;
};

struct Phase {
  std::string_view name;
  std::string_view done; // what holds when the phase is over
  std::span<const PipelinePass> passes;
};

/// In order: import, raise, shape, serve, distribute, numbers, select,
/// schedule.
std::span<const Phase> pipelinePhases();

/// A sentence about a name in the options that matches no phase or no
/// optional pass, which lists the known ones; empty when all is well.
std::string optionsComplaint(const PipelineOptions &options);

/// Called after each pass with its phase and name, and after each phase with
/// an empty pass name. Failure stops the pipeline.
using PipelineObserver =
    std::function<mlir::LogicalResult(mlir::ModuleOp module, const Phase &phase,
                                      std::string_view pass, double seconds)>;

/// Runs the phases. What optionsComplaint() says is an error.
mlir::LogicalResult runPipeline(mlir::ModuleOp module,
                                const PipelineOptions &options,
                                const PipelineObserver &observe);

} // namespace quire

#endif
