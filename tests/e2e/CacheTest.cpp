// The cache changes nothing but the time: decoding with it equals recomputing
// without it, and choices that share a prompt's pages and then write their own
// are what separate requests are.

#include "tests/e2e/Harness.h"
#include "tests/runtime/EngineHarness.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

namespace quire::e2e {
namespace {

using toy::makeRequest;
using toy::Result;
using toy::Results;
using toy::runDry;

TEST(CacheTest, DecodingEqualsRecomputing) {
  auto engine = load(tinyEngine());
  ASSERT_NE(engine, nullptr);
  std::vector<int64_t> tokens = tinyTokens(37, 5);
  auto id = engine->submit(makeRequest(tokens, 40));
  ASSERT_TRUE(id.ok()) << id.status();
  Result decoded = runDry(*engine)[{*id, 0}];
  ASSERT_EQ(decoded.tokens.size(), 40u);
  // Each token once more, as the first of a new request over all before it.
  for (size_t i = 0; i < decoded.tokens.size(); ++i) {
    auto again = engine->submit(makeRequest(tokens, 1));
    ASSERT_TRUE(again.ok()) << again.status();
    Result one = runDry(*engine)[{*again, 0}];
    ASSERT_EQ(one.tokens.size(), 1u);
    EXPECT_EQ(one.tokens[0], decoded.tokens[i]) << "token " << i;
    EXPECT_EQ(one.logprobs[0], decoded.logprobs[i]) << "token " << i;
    tokens.push_back(decoded.tokens[i]);
  }
}

TEST(CacheTest, LogprobsAreThoseOfScoredText) {
  auto engine = load(tinyEngine());
  ASSERT_NE(engine, nullptr);
  std::vector<int64_t> tokens = tinyTokens(20, 6);
  int64_t prompt = int64_t(tokens.size());
  auto id = engine->submit(makeRequest(tokens, 30));
  ASSERT_TRUE(id.ok()) << id.status();
  Result result = runDry(*engine)[{*id, 0}];
  tokens.insert(tokens.end(), result.tokens.begin(), result.tokens.end());
  std::vector<float> logits = scoreOf(*engine, tokens);
  int64_t vocabulary = engine->vocabulary();
  for (size_t i = 0; i < result.tokens.size(); ++i) {
    const float *row = &logits[(size_t(prompt) + i - 1) * size_t(vocabulary)];
    double sum = 0;
    for (int64_t t = 0; t < vocabulary; ++t) {
      sum += std::exp(double(row[t]));
    }
    EXPECT_EQ(std::max_element(row, row + vocabulary) - row, result.tokens[i]);
    EXPECT_NEAR(row[result.tokens[i]] - std::log(sum), result.logprobs[i],
                1e-4);
  }
}

TEST(CacheTest, ChoicesSharePagesAndStayApart) {
  constexpr int64_t kChoices = 6;
  constexpr int64_t kNew = 30;
  // 45 tokens end within a page, so that every choice must copy it.
  std::vector<int64_t> prompt = tinyTokens(45, 7);
  SamplingParams params{.temperature = 1, .seed = 9};
  for (const char *pageSize : {"1", "16"}) {
    SCOPED_TRACE(pageSize);
    auto engine = load(tinyEngine({"--page-size", pageSize}));
    ASSERT_NE(engine, nullptr);
    auto single = engine->submit(makeRequest(prompt, kNew, params));
    ASSERT_TRUE(single.ok());
    Result first = runDry(*engine)[{*single, 0}];

    auto id = engine->submit(makeRequest(prompt, kNew, params, kChoices));
    ASSERT_TRUE(id.ok()) << id.status();
    Results results;
    // The prompt, then a few tokens of each choice.
    for (int i = 0; i < 3; ++i) {
      toy::stepInto(*engine, results);
    }
    // Shared pages count once: six whole tables would take far more.
    int64_t perToken =
        engine->engineDirectory()->manifest().cache_groups(0).bytes_per_token();
    EXPECT_LE(engine->stats().cache.usedBytes,
              perToken * (45 + kChoices * 2 * 16 + 16));
    results = runDry(*engine, std::move(results));
    EXPECT_EQ((results[{*id, 0}]), first) << "the sharer's text changed";
    std::vector<std::vector<int32_t>> texts;
    for (uint32_t choice = 0; choice < kChoices; ++choice) {
      Result &result = results[{*id, choice}];
      EXPECT_EQ(result.tokens.size(), size_t(kNew));
      texts.push_back(result.tokens);
      // Recomputed from nothing, every token has the same probability.
      std::vector<int64_t> all = prompt;
      all.insert(all.end(), result.tokens.begin(), result.tokens.end() - 1);
      auto last = engine->submit(
          makeRequest(all, 1, {.logitBias = {{result.tokens.back(), 1000}}}));
      ASSERT_TRUE(last.ok()) << last.status();
      EXPECT_EQ((runDry(*engine)[{*last, 0}].logprobs[0]),
                result.logprobs.back())
          << "choice " << choice;
    }
    std::ranges::sort(texts);
    EXPECT_EQ(std::ranges::unique(texts).size(), 0u)
        << "two choices drew the same text";
  }
}

TEST(CacheTest, ChoicesInASmallPool) {
  SamplingParams params{.temperature = 1, .seed = 3};
  Request request = makeRequest(tinyTokens(40, 8), 40, params, 5);
  auto roomy = load(tinyEngine()),
       small = load(tinyEngine(), {
                                      .threads = 1,
                                      .cacheTokens = 176,
                                  });
  ASSERT_NE(roomy, nullptr);
  ASSERT_NE(small, nullptr);
  Results expected, got;
  for (auto [engine, results] :
       {std::pair{&*roomy, &expected}, std::pair{&*small, &got}}) {
    ASSERT_TRUE(engine->submit(request).ok());
    ASSERT_TRUE(engine->submit(makeRequest(tinyTokens(50, 9), 40)).ok());
    *results = runDry(*engine);
  }
  EXPECT_GE(small->stats().preemptions, 1);
  EXPECT_EQ(expected, got);
}

TEST(CacheTest, CancelledRequestsGiveTheirPagesBack) {
  auto engine = load(tinyEngine(), {.threads = 2, .cacheTokens = 400});
  ASSERT_NE(engine, nullptr);
  Request kept = makeRequest(tinyTokens(30, 1), 20);
  Result expected;
  for (bool alone : {true, false}) {
    std::vector<RequestId> others;
    for (uint64_t i = 0; i < (alone ? 0u : 8u); ++i) {
      others.push_back(*engine->submit(
          makeRequest(tinyTokens(int64_t(10 + i * 9), i), 50, {}, 2)));
    }
    auto id = engine->submit(kept);
    ASSERT_TRUE(id.ok());
    Results results;
    for (RequestId other : others) {
      toy::stepInto(*engine, results);
      EXPECT_TRUE(engine->cancel(other).ok());
      EXPECT_TRUE(engine->checkBalance().ok()) << engine->checkBalance();
    }
    Result result = runDry(*engine, std::move(results))[{*id, 0}];
    if (alone) {
      expected = result;
    } else {
      EXPECT_EQ(result, expected);
    }
  }
}

} // namespace
} // namespace quire::e2e
