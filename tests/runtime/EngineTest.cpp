// The engine over the toy model: what a request gets does not depend on how
// it was scheduled, and limits hold. DET, SRV and SMP cases are reported
// failures of other engines.

#include "tests/runtime/EngineHarness.h"

#include "gmock/gmock.h"

#include <algorithm>

namespace quire::toy {
namespace {

using testing::HasSubstr;

std::vector<int32_t> denseGreedy(const std::vector<int64_t> &prompt,
                                 int64_t count, int64_t window = 0) {
  std::vector<int32_t> tokens(prompt.begin(), prompt.end());
  for (int64_t i = 0; i < count; ++i) {
    std::vector<float> logits =
        denseLogits(tokens, static_cast<int64_t>(prompt.size()), window);
    tokens.push_back(static_cast<int32_t>(
        std::max_element(logits.begin(), logits.end()) - logits.begin()));
  }
  return {tokens.begin() + static_cast<int64_t>(prompt.size()), tokens.end()};
}

struct Setting {
  int64_t pageSize;
  int64_t maxBatchTokens;
  int threads;
  int64_t window;
};

class EngineSettingTest : public testing::TestWithParam<Setting> {};

TEST_P(EngineSettingTest, EqualsTheDenseModelWhateverTheSetting) {
  Setting setting = GetParam();
  ToyModel toy({.pageSize = setting.pageSize, .window = setting.window});
  auto engine = makeEngine(toy, {.threads = setting.threads,
                                 .cacheTokens = 512,
                                 .maxBatchTokens = setting.maxBatchTokens});
  Results results;
  std::map<RequestId, std::vector<int64_t>> prompts;
  for (int64_t i = 0; i < 17; ++i) {
    std::vector<int64_t> prompt = somePrompt(1 + i * 3, i);
    auto id = engine->submit(makeRequest(prompt, 12));
    ASSERT_TRUE(id.ok()) << id.status();
    prompts[*id] = prompt;
    stepInto(*engine, results); // the next joins while these decode
  }
  results = runDry(*engine, results);
  for (const auto &[id, prompt] : prompts) {
    EXPECT_EQ((results[{id, 0}].tokens),
              denseGreedy(prompt, 12, setting.window))
        << "request " << id;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Settings, EngineSettingTest,
    testing::Values(Setting{4, 0, 1, 0}, Setting{1, 0, 2, 0},
                    Setting{16, 1, 1, 0}, Setting{4, 7, 2, 0},
                    Setting{4, 17, 3, 0}, Setting{4, 0, 1, 6},
                    Setting{4, 7, 2, 5}, Setting{1, 3, 1, 2},
                    Setting{16, 0, 1, 1}));

TEST(EngineTest, SampledTextDoesNotDependOnTheCrowd) {
  SamplingParams params{.temperature = 1, .topK = 20, .seed = 77};
  Request request = makeRequest(somePrompt(9), 20, params);
  Result alone = soloResult(request);
  ToyModel toy;
  auto engine = makeEngine(toy, {.threads = 2, .cacheTokens = 512});
  for (int64_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(engine->submit(makeRequest(somePrompt(5, i), 30)).ok());
  }
  RequestId id = engine->submit(request).value();
  Results results = runDry(*engine);
  EXPECT_EQ((results[{id, 0}]), alone);
}

TEST(EngineTest, ChoicesDifferAndTheirFirstIsTheSingleOne) {
  SamplingParams params{.temperature = 1, .seed = 5};
  ToyModel toy;
  auto engine = makeEngine(toy, {.threads = 1, .cacheTokens = 256});
  RequestId id =
      engine->submit(makeRequest(somePrompt(6), 10, params, 3)).value();
  Results results = runDry(*engine);
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ((results[{id, 0}]),
            soloResult(makeRequest(somePrompt(6), 10, params)));
  EXPECT_NE((results[{id, 1}].tokens), (results[{id, 0}].tokens));
  EXPECT_NE((results[{id, 1}].tokens), (results[{id, 2}].tokens));
}

TEST(EngineTest, MoreChoicesThanMayRunAtOnce) {
  SamplingParams params{.temperature = 1, .seed = 5};
  Request request = makeRequest(somePrompt(6), 10, params, 7);
  ToyModel toy;
  auto wide = makeEngine(toy, {.threads = 1, .cacheTokens = 512});
  auto narrow =
      makeEngine(toy, {.threads = 1, .cacheTokens = 512, .maxSequences = 2});
  ASSERT_TRUE(wide->submit(request).ok());
  ASSERT_TRUE(narrow->submit(request).ok());
  EXPECT_EQ(runDry(*wide), runDry(*narrow));
}

TEST(EngineTest, StopTokensEndWithStop) {
  std::vector<int32_t> wanted = denseGreedy(somePrompt(6), 12);
  int64_t stop = wanted[7];
  size_t at = std::find(wanted.begin(), wanted.end(), stop) - wanted.begin();
  Result result =
      soloResult(makeRequest(somePrompt(6), 12, {.stopTokens = {stop}}));
  EXPECT_EQ(result.finish->reason, FinishReason::Stop);
  EXPECT_EQ(result.tokens.size(), at + 1);
  EXPECT_EQ(result.finish->usage.completionTokens,
            static_cast<int64_t>(at) + 1);
  EXPECT_EQ(result.finish->usage.promptTokens, 6);
}

TEST(EngineTest, Det3TheEndOfTheContext) {
  ToyModel toy({.maxContext = 16});
  struct Case {
    int64_t prompt, maxTokens, wanted; // wanted 0: refused
  };
  const Case cases[] = {{14, 1, 1}, {14, 5, 2}, {14, -1, 2},
                        {15, 1, 1}, {15, 5, 1}, {15, -1, 1},
                        {16, 1, 0}, {17, 1, 0}, {17, -1, 0}};
  for (const Case &test : cases) {
    auto engine = makeEngine(toy, {.threads = 1, .cacheTokens = 64});
    auto id =
        engine->submit(makeRequest(somePrompt(test.prompt), test.maxTokens));
    if (test.wanted == 0) {
      EXPECT_THAT(id.status().message(), HasSubstr("16"));
      EXPECT_THAT(id.status().message(),
                  HasSubstr(std::to_string(test.prompt)));
      continue;
    }
    Results results = runDry(*engine);
    EXPECT_EQ((results[{*id, 0}].tokens.size()),
              static_cast<size_t>(test.wanted))
        << test.prompt << "+" << test.maxTokens;
    EXPECT_EQ((results[{*id, 0}].finish->reason), FinishReason::Length);
  }
}

TEST(EngineTest, Srv2ARequestThatCanNeverFit) {
  ToyModel toy;
  auto engine = makeEngine(toy, {.threads = 1, .cacheTokens = 64});
  auto refused = engine->submit(makeRequest(somePrompt(100), 4));
  EXPECT_THAT(refused.status().message(), HasSubstr("100"));
  EXPECT_THAT(refused.status().message(), HasSubstr("64"));
  RequestId small = engine->submit(makeRequest(somePrompt(5), 4)).value();
  RequestId longOne = engine->submit(makeRequest(somePrompt(40), 200)).value();
  Results results = runDry(*engine);
  EXPECT_EQ((results[{small, 0}].tokens), denseGreedy(somePrompt(5), 4));
  EXPECT_EQ((results[{longOne, 0}].finish->reason), FinishReason::Length);
  EXPECT_EQ((results[{longOne, 0}].tokens.size()), 25u)
      << "64 in the cache, and the last token that never enters it";
}

TEST(EngineTest, Smp4StrayTokensAreRefusedAndNeighboursUnharmed) {
  ToyModel toy;
  auto engine = makeEngine(toy, {.threads = 1, .cacheTokens = 128});
  RequestId neighbour = engine->submit(makeRequest(somePrompt(5), 8)).value();
  for (int64_t token : {int64_t{-1}, kVocabulary, int64_t{1} << 31,
                        std::numeric_limits<int64_t>::max()}) {
    EXPECT_THAT(engine->submit(makeRequest({1, token}, 4)).status().message(),
                HasSubstr("prompt"));
    EXPECT_THAT(engine->submit(makeRequest({1}, 4, {.logitBias = {{token, 1}}}))
                    .status()
                    .message(),
                HasSubstr("logit_bias"));
  }
  EXPECT_THAT(engine->submit(makeRequest({}, 4)).status().message(),
              HasSubstr("empty"));
  EXPECT_THAT(engine->submit(makeRequest({1}, 4, {}, 0)).status().message(),
              HasSubstr("choices"));
  EXPECT_EQ((runDry(*engine)[{neighbour, 0}].tokens),
            denseGreedy(somePrompt(5), 8));
}

TEST(EngineTest, ARowWithNonFiniteLogitsEndsAlone) {
  ToyModel toy;
  auto engine = makeEngine(toy, {.threads = 1, .cacheTokens = 128});
  RequestId poisoned =
      engine->submit(makeRequest({1, kPoison}, 8, {}, 2)).value();
  RequestId other = engine->submit(makeRequest(somePrompt(5), 8)).value();
  Results results = runDry(*engine);
  for (uint32_t choice : {0u, 1u}) {
    const Finish &finish = *results[{poisoned, choice}].finish;
    EXPECT_EQ(finish.reason, FinishReason::Error);
    EXPECT_THAT(finish.error.message(), HasSubstr("non-finite"));
  }
  EXPECT_EQ((results[{other, 0}].tokens), denseGreedy(somePrompt(5), 8));
}

TEST(EngineTest, StopEndsOneChoice) {
  SamplingParams params{.temperature = 1, .seed = 5};
  ToyModel toy;
  auto engine = makeEngine(toy, {.threads = 1, .cacheTokens = 256});
  RequestId id =
      engine->submit(makeRequest(somePrompt(6), 10, params, 2)).value();
  Results results;
  stepInto(*engine, results);
  ASSERT_TRUE(engine->stop(id, 1).ok());
  EXPECT_FALSE(engine->stop(id, 1).ok());
  EXPECT_FALSE(engine->stop(id, 9).ok());
  results = runDry(*engine, results);
  EXPECT_EQ((results[{id, 1}].finish->reason), FinishReason::Stop);
  EXPECT_EQ((results[{id, 1}].tokens.size()), 1u);
  EXPECT_EQ((results[{id, 0}].tokens.size()), 10u);
  // Before the first token all choices end together.
  id = engine->submit(makeRequest(somePrompt(6), 10, params, 3)).value();
  ASSERT_TRUE(engine->stop(id, 0).ok());
  results = runDry(*engine);
  EXPECT_EQ((results[{id, 2}].finish->reason), FinishReason::Stop);
}

TEST(EngineTest, LedgerIsWhatIsAllocated) {
  ToyModel toy;
  auto engine = makeEngine(toy, {.threads = 2, .cacheTokens = 64});
  Ledger ledger = engine->ledger();
  // 16 pages of 4 tokens; a layer's part of a page is a cache line.
  EXPECT_EQ(ledger.bytesOf("cache"), 16 * 2 * 64);
  EXPECT_EQ(ledger.bytesOf("cache"), engine->stats().cache.totalBytes);
  EXPECT_EQ(ledger.bytesOf("executor"), 64 * 4 + 32 * 64 * 4 + 2 * 64);
}

TEST(EngineTest, ScoreIsTheSameInChunksAndOneByOne) {
  ToyModel toy({.materialisedBlock = 8});
  auto engine = makeEngine(toy, {.threads = 2, .cacheTokens = 128});
  std::vector<int64_t> tokens = somePrompt(50);
  for (int64_t generatedFrom : {-1, 20}) {
    for (int64_t chunk : {0, 1, 7}) {
      int64_t next = 0;
      auto check = [&](int64_t position, std::span<const float> logits) {
        EXPECT_EQ(position, next++);
        std::vector<int32_t> prefix(tokens.begin(),
                                    tokens.begin() + position + 1);
        std::vector<float> wanted =
            denseLogits(prefix, generatedFrom < 0 ? 50 : generatedFrom, 0, 8);
        EXPECT_TRUE(std::equal(logits.begin(), logits.end(), wanted.begin()));
        return absl::OkStatus();
      };
      ASSERT_TRUE(engine
                      ->score(tokens,
                              {.chunk = chunk, .generatedFrom = generatedFrom},
                              check)
                      .ok());
      EXPECT_EQ(next, 50);
    }
  }
  EXPECT_EQ(engine->stats().cache.usedBytes, 0);
  auto stopEarly = [](int64_t, std::span<const float>) {
    return absl::CancelledError("enough");
  };
  EXPECT_THAT(engine->score(tokens, {}, stopEarly).message(),
              HasSubstr("enough"));
  EXPECT_THAT(engine->score(somePrompt(200), {}, stopEarly).message(),
              HasSubstr("200"));
}

TEST(EngineTest, OptionsAreChecked) {
  ToyModel toy;
  EXPECT_FALSE(Engine::create(toy.model, {.threads = -1}).ok());
  EXPECT_FALSE(Engine::create(toy.model, {.maxSequences = 0}).ok());
  EXPECT_FALSE(Engine::create(toy.model, {.cacheTokens = -5}).ok());
}

} // namespace
} // namespace quire::toy
