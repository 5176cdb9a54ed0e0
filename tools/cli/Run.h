// What the two ways of `run` share, one prompt or a file of them; `chat` uses
// the loading.

#ifndef QUIRE_TOOLS_CLI_RUN_H
#define QUIRE_TOOLS_CLI_RUN_H

#include "tools/cli/ModelOptions.h"
#include "tools/cli/PromptSource.h"
#include "tools/cli/Serving.h"
#include "tools/cli/TextOfModel.h"

namespace quire::cli {

struct RunOptions {
  ModelOptions model;
  SamplingOptions sampling{128};
  PromptRules rules;
  std::string text;
  std::string file;
  std::string tokens;
  std::string promptsFile;
  bool hasText = false;
  bool hasTokens = false;
  bool literal = false;
  bool showTokens = false;
  bool json = false;
  bool stats = false;
  bool draft = false;
};

struct LoadedModel {
  ModelText text;
  std::unique_ptr<Engine> engine;
};
absl::StatusOr<LoadedModel> loadModel(const ModelOptions &options);

/// Tells when the cache, not the model, decides where a text must end.
void noteCacheLimit(const Engine &engine);

/// Speed, memory and preemptions on stderr.
void printStats(const ServingTimes &times, const EngineStats &stats);

/// Serves all requests of the file together. Results come as they finish; a
/// request that is wrong gets a result with finish_reason "error" and the rest
/// goes on. Fails in the end if any did.
absl::Status runPromptFile(const RunOptions &options);

} // namespace quire::cli

#endif
