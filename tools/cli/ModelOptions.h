// The options that every command with a model has, and opening the model they
// describe: an engine directory as it is, a checkpoint through the cache.

#ifndef QUIRE_TOOLS_CLI_MODELOPTIONS_H
#define QUIRE_TOOLS_CLI_MODELOPTIONS_H

#include "runtime/Engine.h"
#include "tools/cli/Arguments.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace quire::cli {

struct ModelOptions {
  std::string model;
  // How the engine runs.
  int64_t threads = 0;
  int64_t cacheTokens = 0;
  int64_t maxBatch = 32;
  int64_t maxBatchTokens = 0;
  std::string isa;
  // How a checkpoint is compiled; refused for an engine.
  std::string quantize;
  std::string kv;
  int64_t pageSize = 0;
  int64_t maxContext = 0;
  std::vector<std::string> disabledPasses;

  void addTo(Arguments &arguments);
  absl::Status check() const;
};

/// Refuses an empty MODEL.
absl::Status checkModelGiven(const std::string &model);

/// The engine's directory: MODEL itself, or a cached one. `replace`: compile
/// anew.
absl::StatusOr<std::string> engineDirectoryFor(const ModelOptions &options,
                                               bool replace = false);

/// Loads the engine. A broken one in the cache is compiled again.
absl::StatusOr<std::unique_ptr<Engine>> openEngine(const ModelOptions &options);

/// The same for whoever needs no code: manifest and weights.
absl::StatusOr<std::unique_ptr<EngineDirectory>>
openDirectory(const ModelOptions &options);

EngineOptions engineOptionsOf(const ModelOptions &options);

} // namespace quire::cli

#endif
