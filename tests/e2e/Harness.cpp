#include "tests/e2e/Harness.h"

#include "runtime/engine/IsaLevel.h"
#include "tests/e2e/Program.h"
#include "tests/support/TemporaryDirectory.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <map>

namespace quire::e2e {

std::string engineFor(const std::string &model,
                      const std::vector<std::string> &options) {
  static test::TemporaryDirectory folder;
  static std::map<std::vector<std::string>, std::string> engines;
  std::vector<std::string> key = options;
  key.push_back(model);
  auto found = engines.find(key);
  if (found != engines.end()) {
    return found->second;
  }
  std::string path = folder.file("engine-" + std::to_string(engines.size()));
  std::vector<std::string> command = {kCompiler, model, "-o", path, "--quiet"};
  command.insert(command.end(), options.begin(), options.end());
  Outcome outcome = runProgram(command, {.seconds = 300});
  if (outcome.status != 0) {
    ADD_FAILURE() << "compiling " << model << " ended with " << outcome.status
                  << ": " << outcome.errors;
    path.clear();
  }
  return engines[key] = path;
}

std::string tinyEngine(std::vector<std::string> options) {
  options.insert(options.end(), {"--isa", std::string(bestIsaOfCpu())});
  return engineFor(kTinyModel, options);
}

std::unique_ptr<Engine> load(const std::string &path, EngineOptions options) {
  if (path.empty()) {
    return nullptr; // reported already
  }
  auto engine = Engine::load(path, options);
  if (!engine.ok()) {
    ADD_FAILURE() << engine.status();
    return nullptr;
  }
  return *std::move(engine);
}

std::vector<float> scoreOf(Engine &engine, const std::vector<int64_t> &tokens,
                           const ScoreOptions &options) {
  std::vector<float> logits;
  absl::Status status = engine.score(
      tokens, options, [&](int64_t position, std::span<const float> row) {
        EXPECT_EQ(position * engine.vocabulary(), int64_t(logits.size()));
        logits.insert(logits.end(), row.begin(), row.end());
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok()) << status;
  return logits;
}

std::vector<int64_t> tinyTokens(int64_t count, uint64_t seed) {
  // Any ids do: the numbers are what is compared, not the sense.
  std::vector<int64_t> tokens = {0};
  uint64_t state = seed * 7919 + 1;
  while (int64_t(tokens.size()) < count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    tokens.push_back(int64_t(6 + (state >> 33) % 2000));
  }
  return tokens;
}

std::string fromEnvironment(const char *variable) {
  const char *path = std::getenv(variable);
  return path != nullptr && std::filesystem::exists(path) ? path : "";
}

std::string realModel(const std::string &file) {
  const char *home = std::getenv("HOME");
  for (std::string place :
       {fromEnvironment("QUIRE_MODELS"),
        std::string(QUIRE_SOURCE_DIRECTORY "/models-cache"),
        std::string(home != nullptr ? home : "") + "/.cache/quire/models"}) {
    std::string path = place + "/" + file;
    if (std::filesystem::exists(path)) {
      return path;
    }
  }
  return "";
}

} // namespace quire::e2e
