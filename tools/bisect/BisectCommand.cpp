#include "tools/bisect/BisectCommand.h"

#include "frontends/Import.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "ir/reference/CheckpointParams.h"
#include "runtime/engine/EngineDirectory.h"
#include "tools/bisect/BisectOptions.h"
#include "tools/bisect/BisectReport.h"
#include "tools/bisect/PassBisect.h"
#include "tools/compile/Diagnostics.h"
#include "tools/compile/Interrupt.h"

#include <cstdio>
#include <iostream>

using namespace mlir;

namespace quire::bisect {

namespace {

class Bisection {
public:
  explicit Bisection(const BisectOptions &options) : options(options) {
    prepareContext(context);
  }

  LogicalResult run() {
    if (failed(open()) || failed(bisectPasses())) {
      return failure();
    }
    return success();
  }

  /// What was found out, also where it went no further than a broken module.
  LogicalResult report() const {
    const PassChange *wrong = passes ? passes->firstWrong() : nullptr;
    if (!passes) {
      return failure();
    }
    if (options.json) {
      nlohmann::ordered_json json = {
          {"tokens", options.tokens},
          {"passes", passJson(passes->changes())},
          {"first_wrong_pass",
           wrong ? nlohmann::ordered_json(wrong->pass) : nullptr}};
      std::cout << json.dump(2) << "\n";
    } else {
      std::cout << passTable(passes->changes());
      std::cout << (wrong ? "" : "every pass keeps the numbers\n");
    }
    std::cout.flush();
    return wrong ? reportError(absl::InternalError(describe(*wrong)))
                 : success();
  }

private:
  LogicalResult open() {
    auto directory = EngineDirectory::open(options.engine, {.loadCode = false});
    if (!directory.ok()) {
      return reportError(directory.status());
    }
    engine = *std::move(directory);
    auto pipelineOptions = pipelineOptionsOf(engine->manifest());
    if (!pipelineOptions.ok()) {
      return reportError(pipelineOptions.status());
    }
    pipeline = *std::move(pipelineOptions);
    if (absl::Status status = checkPrompt(); !status.ok()) {
      return reportError(status);
    }
    auto opened = openCheckpoint(options.checkpoint);
    if (!opened.ok()) {
      return reportError(opened.status());
    }
    checkpoint = *std::move(opened);
    FailureOr<ImportedModel> imported = importCheckpoint(
        context, *checkpoint, engine->manifest().model().max_context());
    if (failed(imported)) {
      return failure();
    }
    model = *std::move(imported);
    params.emplace(*checkpoint);
    return success();
  }

  /// One step must take the prompt, with the logits of every token.
  absl::Status checkPrompt() const {
    const manifest::Model &limits = engine->manifest().model();
    int64_t most = std::min({limits.max_batch_tokens(), limits.max_logit_rows(),
                             limits.max_context()});
    if (int64_t(options.tokens.size()) > most) {
      return absl::InvalidArgumentError(
          strCat("the prompt has ", options.tokens.size(),
                 " tokens, and a step of this engine gives logits of ", most,
                 "; give a shorter one"));
    }
    for (int32_t token : options.tokens) {
      if (token < 0 || token >= limits.vocabulary()) {
        return absl::InvalidArgumentError(
            strCat("token ", token, " is not in the vocabulary of ",
                   limits.vocabulary(), "; give ids of this model"));
      }
    }
    return absl::OkStatus();
  }

  LogicalResult bisectPasses() {
    passes.emplace(*params, options.tokens, pipeline, [](const PassChange &c) {
      std::fprintf(stderr, "quire: pass %s: %.1e\n", c.pass.c_str(),
                   c.change.typical);
    });
    if (failed(passes->begin(*model.module))) {
      return failure();
    }
    return runPipeline(*model.module, pipeline,
                       [&](ModuleOp module, const Phase &phase,
                           std::string_view pass, double) {
                         return interrupted()
                                    ? failure()
                                    : passes->observe(module, phase, pass);
                       });
  }

  const BisectOptions &options;
  MLIRContext context;
  std::unique_ptr<EngineDirectory> engine;
  PipelineOptions pipeline;
  std::unique_ptr<Checkpoint> checkpoint;
  ImportedModel model;
  std::optional<reference::CheckpointParams> params;
  std::optional<PassBisect> passes;
};

} // namespace

int bisectCommand(int argc, char **argv) {
  ParsedBisect parsed = parseBisectCommand(argc, argv);
  if (!parsed.options) {
    return parsed.exitStatus;
  }
  catchInterrupts();
  Bisection bisection(*parsed.options);
  bool ran = succeeded(bisection.run());
  if (interrupted()) {
    return 130;
  }
  return succeeded(bisection.report()) && ran ? 0 : 1;
}

} // namespace quire::bisect
