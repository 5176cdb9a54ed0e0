// Running the interpreter after every phase of the pipeline, for tests that
// compare its logits.

#ifndef QUIRE_TESTS_PASSES_PHASELOGITS_H
#define QUIRE_TESTS_PASSES_PHASELOGITS_H

#include "frontends/Import.h"
#include "ir/reference/CheckpointParams.h"
#include "ir/reference/Interpreter.h"
#include "ir/reference/LogitError.h"
#include "ir/rt/Rt.h"
#include "passes/Pipeline.h"
#include "tests/support/Npz.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "nlohmann/json.hpp"
#include "gtest/gtest.h"

#include <algorithm>
#include <filesystem>

namespace quire::test {

/// Where the random checkpoints are; "" where nobody has said so.
inline std::filesystem::path randomCheckpoints() {
  const char *path = std::getenv("QUIRE_TINY_RANDOM");
  return path != nullptr ? path : "";
}

/// A random checkpoint and what transformers says of it. Failures are reported
/// to the test, which asks `ok`.
class RandomCheckpoint {
public:
  explicit RandomCheckpoint(const std::string &name) {
    std::filesystem::path directory = randomCheckpoints() / name;
    auto arrays = readNpz((directory / "reference.npz").string());
    auto opened = openCheckpoint(directory.string());
    if (!arrays.ok() || !opened.ok()) {
      ADD_FAILURE() << arrays.status() << opened.status();
      return;
    }
    std::vector<int64_t> ids = (*arrays)["input_ids"].integers();
    tokens.assign(ids.begin(), ids.end());
    logits = (*arrays)["logits"].floats();
    maxContext = (*arrays)["max_context"].integers().front();
    checkpoint = *std::move(opened);
  }

  bool ok() const { return checkpoint != nullptr; }

  /// The forms of latent attention to compile: one where there is none.
  std::vector<std::string> forms() const {
    return checkpoint->config().contains("kv_lora_rank")
               ? std::vector<std::string>{"auto", "materialised", "factored",
                                          "folded"}
               : std::vector<std::string>{"auto"};
  }

  std::vector<int32_t> tokens;
  std::vector<float> logits; // [tokens, vocabulary]
  int64_t maxContext = 0;
  std::unique_ptr<Checkpoint> checkpoint;
};

/// Calls `check` with the module after each phase and the phase's name.
template <typename Check>
void afterEveryPhase(const RandomCheckpoint &random,
                     const PipelineOptions &options, Check check) {
  mlir::MLIRContext context;
  context.loadDialect<rt::RtDialect>();
  auto model = importCheckpoint(context, *random.checkpoint, random.maxContext);
  ASSERT_TRUE(llvm::succeeded(model));
  auto ran = runPipeline(*model->module, options,
                         [&](mlir::ModuleOp module, const Phase &phase,
                             std::string_view pass, double) {
                           if (pass.empty()) {
                             SCOPED_TRACE(std::string(phase.name));
                             check(module, phase);
                           }
                           return mlir::success();
                         });
  EXPECT_TRUE(llvm::succeeded(ran));
}

/// Feeds tokens to a module: `chunk` tokens of the prompt a step, then one
/// (0: all in one step). Logits of all; empty where a step failed.
inline std::vector<float> logitsOf(mlir::ModuleOp module,
                                   const RandomCheckpoint &random,
                                   std::span<const int32_t> tokens,
                                   int32_t prompt, int32_t chunk) {
  reference::CheckpointParams params(*random.checkpoint);
  reference::Interpreter interpreter(module, params);
  std::vector<float> logits;
  int32_t count = tokens.size();
  for (int32_t first = 0; first < count;) {
    int32_t size = chunk == 0       ? count
                   : first < prompt ? std::min(chunk, prompt - first)
                                    : 1;
    auto rows = interpreter.step(reference::chainStep(
        tokens.subspan(first, size), first, interpreter.pageSizes(), prompt));
    if (llvm::failed(rows)) {
      return {};
    }
    logits.insert(logits.end(), rows->values.begin(), rows->values.end());
    first += size;
  }
  return logits;
}

} // namespace quire::test

#endif
