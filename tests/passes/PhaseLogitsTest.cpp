// The interpreter gives transformers' logits after every phase of the
// pipeline, for random checkpoints of every architecture
// (tests/models/make_tiny_random.py writes them).

#include "frontends/Import.h"
#include "ir/reference/CheckpointParams.h"
#include "ir/reference/Interpreter.h"
#include "ir/reference/LogitError.h"
#include "ir/rt/Rt.h"
#include "passes/Pipeline.h"
#include "tests/support/Npz.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <filesystem>

using namespace mlir;

namespace quire {
namespace {

std::filesystem::path checkpointDirectory() {
  const char *path = std::getenv("QUIRE_TINY_RANDOM");
  return path != nullptr ? path : "";
}

/// Largest difference, in deviations of the reference.
double worstError(ModuleOp module, const Checkpoint &checkpoint,
                  const std::vector<int32_t> &tokens,
                  const std::vector<float> &expected) {
  reference::CheckpointParams params(checkpoint);
  reference::Interpreter interpreter(module, params);
  auto input = reference::chainStep(tokens, 0, interpreter.pageSizes());
  input.logitRow.resize(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    input.logitRow[i] = int32_t(i);
  }
  auto logits = interpreter.step(input);
  return failed(logits) ? reference::LogitError().worst
                        : reference::logitError(logits->values, expected).worst;
}

class PhaseLogits : public testing::TestWithParam<std::string> {};

TEST_P(PhaseLogits, EqualReferenceAfterEveryPhase) {
  auto directory = checkpointDirectory() / GetParam();
  auto arrays = test::readNpz((directory / "reference.npz").string());
  ASSERT_TRUE(arrays.ok()) << arrays.status();
  auto ids = (*arrays)["input_ids"].integers();
  std::vector<int32_t> tokens(ids.begin(), ids.end());
  std::vector<float> expected = (*arrays)["logits"].floats();
  int64_t maxContext = (*arrays)["max_context"].integers().front();

  MLIRContext context;
  context.loadDialect<rt::RtDialect>();
  auto checkpoint = openCheckpoint(directory.string());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  auto model = importCheckpoint(context, **checkpoint, maxContext);
  ASSERT_TRUE(succeeded(model));
  PipelineOptions options;
  options.quantize = "f32";
  options.kvFormat = "f32";
  auto ran = runPipeline(
      *model->module, options,
      [&](ModuleOp module, const Phase &phase, std::string_view pass, double) {
        if (pass.empty()) {
          EXPECT_LE(worstError(module, **checkpoint, tokens, expected), 1e-4)
              << "after phase " << phase.name;
        }
        return success();
      });
  EXPECT_TRUE(succeeded(ran));
}

std::vector<std::string> variants() {
  std::vector<std::string> names;
  std::error_code error;
  for (auto &entry :
       std::filesystem::directory_iterator(checkpointDirectory(), error)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(TinyRandom, PhaseLogits, testing::ValuesIn(variants()),
                         [](const testing::TestParamInfo<std::string> &info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(PhaseLogitsData, HasCheckpoints) {
  if (variants().empty()) {
    GTEST_SKIP() << "no random checkpoints: run tests/models/"
                    "make_tiny_random.py DIR with a Python that has "
                    "transformers, and set QUIRE_TINY_RANDOM=DIR";
  }
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PhaseLogits);

} // namespace
} // namespace quire
