// The compiler's way out: an rt module and a checkpoint become an engine
// directory. The caller hands over what only it knows (the model's
// description, the tokenizer, the chosen options); everything else follows
// from the module. Not for use by several threads on one module; packs and
// compiles on threads of its own.

#ifndef QUIRE_CODEGEN_CODEGEN_H
#define QUIRE_CODEGEN_CODEGEN_H

#include "absl/status/status.h"
#include "frontends/formats/Checkpoint.h"
#include "runtime/engine/manifest.pb.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/LogicalResult.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace quire {

/// What the engine says about its model besides what the rt module knows.
struct EngineSource {
  /// The caller fills: model (without max_logit_rows: the writer takes it
  /// from buffer @logits where unset), chat_template, generation, options,
  /// compiler_version, machine_profile. The writer fills the rest.
  manifest::Manifest description;
  /// Writes the tokenizer to the given path inside the new directory; empty
  /// for a model without one.
  std::function<absl::Status(const std::string &path)> writeTokenizer;
  /// The IR of each phase to keep in the engine: (phase name, text).
  std::vector<std::pair<std::string, std::string>> ir;
};

struct EngineWriteOptions {
  std::string directory;         // of the engine; its parent must exist
  bool force = false;            // replace an existing engine
  std::vector<std::string> isas; // best first; empty: every level
  int threads = 2;
  EngineSource source;
  /// Progress lines for people: ("weights", done bytes, all bytes). Called
  /// from one thread at a time, maybe not the caller's. May be empty.
  std::function<void(std::string_view stage, int64_t done, int64_t all)>
      progress;
  /// Asked now and then, by several threads; true stops the work (the user
  /// pressed Ctrl-C).
  std::function<bool()> cancelled;
};

/// Where the time and the bytes went.
struct EngineReport {
  struct Stage {
    std::string name; // "emit", "optimise avx512", "weights", ...
    double seconds;
  };
  std::vector<Stage> stages;
  int64_t weightBytes = 0;
  int64_t codeBytes = 0;   // of all levels
  int64_t engineBytes = 0; // of the whole directory
};

/// Writes the engine beside `directory` and renames it into place, so that
/// there is never half of one. Refuses an existing `directory` without
/// `force`, and one that is no engine even with it. Failures are diagnostics
/// at the module. `rtModule` must hold `rt` ops, generated functions and the
/// `lm.param` symbols that weight slots load; it is not changed. `checkpoint`
/// is where those parameters' bytes are: mapped files, as openCheckpoint makes
/// them, because pages are given back as they have been read.
llvm::LogicalResult writeEngine(mlir::ModuleOp rtModule,
                                const Checkpoint &checkpoint,
                                const EngineWriteOptions &options,
                                EngineReport &report);

/// Whether writeEngine would refuse `directory`: to know it before any work.
absl::Status checkEngineDirectory(const std::string &directory, bool force);

/// LLVM IR of the step function as text, before it is linked with the kernels:
/// for `--dump-ir` and tests.
llvm::LogicalResult printStepIr(mlir::ModuleOp rtModule, std::string &text);

} // namespace quire

#endif
