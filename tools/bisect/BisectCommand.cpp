#include "tools/bisect/BisectCommand.h"

#include "frontends/Import.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "ir/reference/CheckpointParams.h"
#include "runtime/Engine.h"
#include "tools/bisect/BisectOptions.h"
#include "tools/bisect/BisectReport.h"
#include "tools/bisect/LaunchBisect.h"
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
    return success(succeeded(open()) && succeeded(bisectPasses()) &&
                   succeeded(bisectLaunches()));
  }

  /// What was found out, also where it went no further than a broken module.
  LogicalResult report() const {
    if (!passes) {
      return failure();
    }
    const PassChange *pass = passes->firstWrong();
    const LaunchChange *launch = launches ? launches->firstWrong() : nullptr;
    options.json ? printJson(pass, launch) : printText(pass, launch);
    if (pass) {
      (void)reportError(absl::InternalError(describe(*pass)));
    }
    if (launch) {
      (void)reportError(absl::InternalError(describe(*launch)));
    }
    return success(!pass && !launch);
  }

private:
  void printJson(const PassChange *pass, const LaunchChange *launch) const {
    using nlohmann::ordered_json;
    ordered_json json = {
        {"tokens", options.tokens},
        {"passes", passJson(passes->changes())},
        {"first_wrong_pass", pass ? ordered_json(pass->pass) : nullptr},
        {"launches", ordered_json::array()},
        {"first_wrong_launch", nullptr}};
    if (launches) {
      json["launches"] = launchJson(launches->changes());
    }
    if (launch) {
      json["first_wrong_launch"] = launchJson({launch, 1}).front();
    }
    std::cout << json.dump(2) << "\n" << std::flush;
  }

  void printText(const PassChange *pass, const LaunchChange *launch) const {
    std::cout << passTable(passes->changes())
              << (pass ? "" : "every pass keeps the numbers\n");
    if (launches) {
      std::cout << "\n"
                << launchTable(launches->changes())
                << (launch ? "" : "every launch gives the interpreter's\n");
    }
    std::cout.flush();
  }

  LogicalResult open() {
    auto loaded = Engine::load(
        options.engine,
        {.threads = 1, // watched launches run alone
         .cacheTokens = std::max<int64_t>(1, int64_t(options.tokens.size())),
         .maxSequences = 1,
         .isa = options.isa});
    if (!loaded.ok()) {
      return reportError(loaded.status());
    }
    engine = *std::move(loaded);
    auto pipelineOptions = pipelineOptionsOf(manifest());
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
        context, *checkpoint, manifest().model().max_context());
    if (failed(imported)) {
      return failure();
    }
    model = *std::move(imported);
    params.emplace(*checkpoint);
    return success();
  }

  /// One step must take the prompt, with the logits of every token.
  absl::Status checkPrompt() const {
    const manifest::Model &limits = manifest().model();
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

  /// Only of a pipeline that ran to its end.
  LogicalResult bisectLaunches() {
    launches.emplace(*model.module, *params, *engine);
    if (failed(launches->run(options.tokens))) {
      launches.reset();
      return failure();
    }
    return success();
  }

  const manifest::Manifest &manifest() const {
    return engine->engineDirectory()->manifest();
  }

  const BisectOptions &options;
  MLIRContext context;
  std::unique_ptr<Engine> engine;
  PipelineOptions pipeline;
  std::unique_ptr<Checkpoint> checkpoint;
  ImportedModel model;
  std::optional<reference::CheckpointParams> params;
  std::optional<PassBisect> passes;
  std::optional<LaunchBisect> launches;
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
