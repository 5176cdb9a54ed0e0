// Latent attention in its forms, fed as a prompt in chunks and then token by
// token: every form is the import's attention, and how tokens come changes no
// bit. Random checkpoints of tests/models/make_tiny_random.py.

#include "tests/passes/PhaseLogits.h"

namespace quire {
namespace {

class LatentForms : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    if (test::randomCheckpoints().empty()) {
      GTEST_SKIP() << "set QUIRE_TINY_RANDOM to a directory made by "
                      "tests/models/make_tiny_random.py";
    }
  }

  static PipelineOptions optionsFor(const std::string &form) {
    PipelineOptions options;
    options.quantize = "f32";
    options.kvFormat = "f32";
    options.pageSize = 4;
    options.mla = form;
    return options;
  }

  static bool hasCache(const Phase &phase) {
    return phase.name == "serve" || phase.name == "schedule";
  }
};

/// Two forms in one step: whole blocks of a prompt in one, its tail and what
/// is generated in the other. The prompt is longer than the checkpoint's
/// reference, so that the import is what all phases are judged by.
TEST_P(LatentForms, BothInOneStepAreTheImports) {
  test::RandomCheckpoint random(GetParam());
  ASSERT_TRUE(random.ok());
  constexpr int32_t kPrompt = 140;
  std::vector<int32_t> tokens;
  while (tokens.size() < kPrompt + 6) {
    tokens.insert(tokens.end(), random.tokens.begin(), random.tokens.end());
  }
  tokens.resize(kPrompt + 6);
  PipelineOptions options = optionsFor("auto");
  options.formBlock = 64;
  std::vector<float> expected, whole;
  test::afterEveryPhase(
      random, options, [&](mlir::ModuleOp module, const Phase &phase) {
        std::vector<float> logits =
            test::logitsOf(module, random, tokens, kPrompt, 0);
        ASSERT_FALSE(logits.empty());
        if (phase.name == "import") {
          expected = logits;
        }
        if (phase.name == "shape") {
          auto block =
              module->getAttrOfType<mlir::IntegerAttr>(lm::kMaterialisedBlock);
          ASSERT_TRUE(block) << "only one form was chosen";
          EXPECT_EQ(block.getInt(), 64);
          whole = logits;
        }
        EXPECT_LE(reference::logitError(logits, expected).worst, 1e-4);
        if (hasCache(phase)) {
          for (int32_t chunk : {7, 64}) {
            EXPECT_EQ(test::logitsOf(module, random, tokens, kPrompt, chunk),
                      logits)
                << "chunks of " << chunk;
          }
        }
      });
}

INSTANTIATE_TEST_SUITE_P(TinyRandom, LatentForms,
                         testing::Values("deepseek-v2-lite", "deepseek-v3",
                                         "minicpm3"),
                         [](const testing::TestParamInfo<std::string> &info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

/// Latent 8, content 8, rotary 4 (interleaved in the file), values 6, four
/// heads: a prompt of eleven in chunks, then eight tokens one by one.
using LatentDecoding = LatentForms;

TEST_P(LatentDecoding, EqualsPrefillAndReference) {
  test::RandomCheckpoint random("deepseek-v2-lite");
  ASSERT_TRUE(random.ok());
  constexpr int32_t kPrompt = 11, kAll = 19;
  std::span tokens = std::span(random.tokens).first(kAll);
  size_t vocabulary = random.logits.size() / random.tokens.size();
  std::vector<float> expected(random.logits.begin(),
                              random.logits.begin() + kAll * vocabulary);
  test::afterEveryPhase(
      random, optionsFor(GetParam()),
      [&](mlir::ModuleOp module, const Phase &phase) {
        if (!hasCache(phase)) {
          return;
        }
        std::vector<float> whole =
            test::logitsOf(module, random, tokens, kPrompt, 0);
        EXPECT_LE(reference::logitError(whole, expected).worst, 1e-4);
        for (int32_t chunk : {1, 3, 4, 11}) {
          EXPECT_EQ(test::logitsOf(module, random, tokens, kPrompt, chunk),
                    whole)
              << "chunks of " << chunk;
        }
        reference::CheckpointParams params(*random.checkpoint);
        reference::Interpreter interpreter(module, params);
        const auto &cache = interpreter.cache(0).shape();
        EXPECT_EQ(cache.kvHeads * (cache.keyDim + cache.valueDim), 12)
            << "values of a token and layer";
      });
}

INSTANTIATE_TEST_SUITE_P(Forms, LatentDecoding,
                         testing::Values("auto", "materialised", "factored",
                                         "folded"));

} // namespace
} // namespace quire
