// Latent attention in its forms: engines say what the interpreter says of the
// same form, and how tokens come changes no bit.

#include "ir/reference/LogitError.h"
#include "runtime/engine/IsaLevel.h"
#include "tests/e2e/Harness.h"
#include "tests/e2e/InterpretedModel.h"
#include "tests/e2e/LatentModel.h"
#include "tests/runtime/EngineHarness.h"
#include "tests/support/Compare.h"

#include "gtest/gtest.h"

namespace quire::e2e {
namespace {

using reference::LogitError;
using reference::logitError;

const std::string kForms[] = {"auto", "materialised", "factored", "folded"};

/// The checkpoint of some widths; lives as long as the test program, as do its
/// engines.
std::string checkpointOf(const LatentWidths &widths) {
  static std::map<int64_t, test::TemporaryDirectory> made; // by rank
  auto [found, isNew] = made.try_emplace(widths.rank);
  if (isNew) {
    writeLatentModel(found->second, widths);
  }
  return found->second.path();
}

std::vector<int64_t> someTokens(int64_t count) {
  std::vector<int64_t> tokens = tinyTokens(count);
  for (int64_t &token : tokens) {
    token %= kLatentVocabulary;
  }
  return tokens;
}

/// Tokens of a prompt that are materialised together; 0: all rows have one
/// form.
int64_t promptBlock(const Engine &engine) {
  return engine.engineDirectory()->manifest().model().materialised_block();
}

/// Bars in deviations of the logits; see InterpreterTest.cpp.
struct LatentFormats {
  std::string quantize;
  std::string kv;
  double typical;
};

void PrintTo(const LatentFormats &formats, std::ostream *os) {
  *os << formats.quantize << " weights, " << formats.kv << " cache";
}

using Case = std::tuple<std::string, LatentFormats>;

class LatentEngine : public testing::TestWithParam<Case> {
protected:
  // Wide enough for whole groups of integers, narrower than a supertile.
  std::string model = checkpointOf({64, 32, 16, 48, 64});
  std::string form = std::get<0>(GetParam());
  LatentFormats formats = std::get<1>(GetParam());
};

/// Longer than a block of the prompt that is materialised, with a tail of the
/// prompt and tokens that count as generated behind it.
TEST_P(LatentEngine, IsTheInterpretersHoweverCut) {
  constexpr int64_t kPrompt = 280;
  std::vector<int64_t> tokens = someTokens(290);
  InterpretedModel interpreted(model, {formats.quantize, formats.kv, form});
  std::vector<float> expected = interpreted.logits(tokens, kPrompt);
  interpreted.dequantizeParameters();
  EXPECT_EQ(logitError(interpreted.logits(tokens, kPrompt), expected).worst, 0);
  std::vector<std::string> options = {"--quantize", formats.quantize, "--kv",
                                      formats.kv,   "--mla",          form};
  std::vector<std::string> levels = {std::string(bestIsaOfCpu())};
  if (formats.quantize == "f32") {
    levels.assign(std::begin(kIsaLevels), std::end(kIsaLevels));
  } else {
    options.insert(options.end(), {"--isa", levels.front()});
  }
  std::string path = engineFor(model, options);
  for (const std::string &isa : levels) {
    if (!cpuSupportsIsa(isa)) {
      continue;
    }
    SCOPED_TRACE(isa);
    auto engine = load(path, {.threads = 1, .isa = isa});
    auto twoThreads = load(path, {.threads = 2, .isa = isa});
    ASSERT_TRUE(engine && twoThreads);
    EXPECT_EQ(promptBlock(*engine), form == "auto" ? 256 : 0);
    std::vector<float> whole =
        scoreOf(*engine, tokens, {.generatedFrom = kPrompt});
    LogitError error = logitError(whole, expected);
    EXPECT_LE(error.typical, formats.typical);
    EXPECT_LE(error.worst, 50 * formats.typical);
    for (int64_t chunk : {1, 7, 100}) {
      ScoreOptions cut{.chunk = chunk, .generatedFrom = kPrompt};
      EXPECT_TRUE(test::sameBits(scoreOf(*engine, tokens, cut), whole))
          << "chunks of " << chunk;
      EXPECT_TRUE(test::sameBits(scoreOf(*twoThreads, tokens, cut), whole))
          << "two threads, chunks of " << chunk;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, LatentEngine,
    testing::Combine(testing::ValuesIn(kForms),
                     testing::Values(LatentFormats{"f32", "f32", 1e-5},
                                     LatentFormats{"bf16", "bf16", 1e-3},
                                     LatentFormats{"int8", "f16", 1e-2},
                                     LatentFormats{"int4", "bf16", 2e-2})),
    [](const testing::TestParamInfo<Case> &info) {
      return std::get<0>(info.param) + "_" + std::get<1>(info.param).quantize;
    });

/// Prompts with and without whole blocks, each with rows of both forms in its
/// steps or only of one.
TEST(LatentCrowd, SameBitsInAnyCompany) {
  std::string path =
      engineFor(checkpointOf({64, 32, 16, 48, 64}),
                {"--quantize", "int8", "--isa", std::string(bestIsaOfCpu())});
  std::vector<Request> requests;
  for (int64_t length : {300, 20, 256, 270, 1}) {
    requests.push_back(toy::makeRequest(someTokens(length), 20));
  }
  std::vector<toy::Result> alone;
  for (const Request &request : requests) {
    auto engine = load(path);
    ASSERT_NE(engine, nullptr);
    ASSERT_EQ(promptBlock(*engine), 256);
    auto id = engine->submit(request);
    ASSERT_TRUE(id.ok()) << id.status();
    alone.push_back(toy::runDry(*engine)[{*id, 0}]);
  }
  // The last has too small a cache for all: some are put off and computed
  // again, and keep their rows' forms.
  for (EngineOptions options :
       {EngineOptions{.threads = 1},
        EngineOptions{.threads = 2, .maxBatchTokens = 7},
        EngineOptions{.threads = 2, .maxBatchTokens = 100},
        EngineOptions{.threads = 2, .cacheTokens = 400}}) {
    auto engine = load(path, options);
    ASSERT_NE(engine, nullptr);
    std::vector<RequestId> ids;
    for (const Request &request : requests) {
      auto id = engine->submit(request);
      ASSERT_TRUE(id.ok()) << id.status();
      ids.push_back(*id);
    }
    toy::Results together = toy::runDry(*engine);
    for (size_t i = 0; i < ids.size(); ++i) {
      EXPECT_EQ((together[{ids[i], 0}]), alone[i])
          << "request " << i << ", " << options.maxBatchTokens << " rows, "
          << options.cacheTokens << " cached";
    }
  }
}

/// Latent 8, content 8, rotary 4 (interleaved in the file), values 6, four
/// heads: a prompt of eleven tokens and eight generated ones.
class LatentDecoding : public testing::TestWithParam<std::string> {};

TEST_P(LatentDecoding, EqualsPrefill) {
  std::string model = checkpointOf({8, 8, 4, 6, 0});
  std::vector<int64_t> prompt = someTokens(11);
  std::string path =
      engineFor(model, {"--quantize", "f32", "--kv", "f32", "--mla", GetParam(),
                        "--isa", std::string(bestIsaOfCpu())});
  std::vector<int32_t> generated;
  for (int64_t chunk : {11, 1, 3, 4}) {
    SCOPED_TRACE(chunk);
    auto engine = load(path, {.threads = 1, .maxBatchTokens = chunk});
    ASSERT_NE(engine, nullptr);
    auto id = engine->submit(toy::makeRequest(prompt, 8));
    ASSERT_TRUE(id.ok()) << id.status();
    std::vector<int32_t> got = toy::runDry(*engine)[{*id, 0}].tokens;
    ASSERT_EQ(got.size(), 8u);
    generated = generated.empty() ? got : generated;
    EXPECT_EQ(got, generated);
  }
  std::vector<int64_t> all = prompt;
  all.insert(all.end(), generated.begin(), generated.end());
  // What the model says with full keys and values.
  std::vector<float> expected =
      InterpretedModel(model, {"f32", "f32", "materialised"}).logits(all, 11);
  auto engine = load(path);
  ASSERT_NE(engine, nullptr);
  std::vector<float> whole = scoreOf(*engine, all, {.generatedFrom = 11});
  EXPECT_LE(logitError(whole, expected).worst, 1e-4);
  for (int64_t chunk : {1, 3, 4, 11}) {
    EXPECT_TRUE(test::sameBits(
        scoreOf(*engine, all, {.chunk = chunk, .generatedFrom = 11}), whole))
        << "chunks of " << chunk;
  }
  // Twelve values a token and layer, not a head's.
  EXPECT_EQ(
      engine->engineDirectory()->manifest().cache_groups(0).bytes_per_token(),
      12 * 2 * 4);
}

INSTANTIATE_TEST_SUITE_P(Forms, LatentDecoding, testing::ValuesIn(kForms),
                         [](const testing::TestParamInfo<std::string> &info) {
                           return info.param;
                         });

} // namespace
} // namespace quire::e2e
