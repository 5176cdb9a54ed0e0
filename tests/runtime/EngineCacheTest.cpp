// Requests that compete for pages: preemption, cancelling at any moment,
// shared prompts. KV-n are reported failures of other engines.

#include "tests/runtime/EngineHarness.h"

#include <random>

namespace quire::toy {
namespace {

TEST(EngineCacheTest, Kv3PreemptAndResume) {
  for (SamplingParams params :
       {SamplingParams{},
        SamplingParams{.frequencyPenalty = .5,
                       .minTokens = 12,
                       .stopTokens = {1, 2, 3, 4, 5, 6, 7, 8}}}) {
    Request first = makeRequest(somePrompt(8, 1), 16, params);
    Request second = makeRequest(somePrompt(8, 2), 16, params);
    ToyModel toy;
    auto engine = makeEngine(toy, {.threads = 1, .cacheTokens = 28});
    RequestId a = engine->submit(first).value();
    RequestId b = engine->submit(second).value();
    Results results = runDry(*engine);
    EXPECT_GE(engine->stats().preemptions, 1);
    EXPECT_EQ((results[{a, 0}]), soloResult(first));
    EXPECT_EQ((results[{b, 0}]), soloResult(second));
    EXPECT_EQ((results[{b, 0}].finish->usage.promptTokens), 8);
    EXPECT_GE((results[{b, 0}].tokens.size()), 12u);
  }
}

TEST(EngineCacheTest, ManyRequestsInATinyPool) {
  for (int64_t window : {0, 6}) {
    // Prompts of up to 20 tokens: none, one or two blocks.
    const ToyOptions options = {.window = window, .materialisedBlock = 8};
    ToyModel toy(options);
    auto engine = makeEngine(toy, {.threads = 1,
                                   .cacheTokens = window == 0 ? 40 : 36,
                                   .maxBatchTokens = 9});
    std::vector<std::pair<RequestId, Request>> sent;
    for (int64_t i = 0; i < 30; ++i) {
      SamplingParams params{.temperature = i % 2 ? 1. : 0.,
                            .seed = static_cast<uint64_t>(i)};
      Request request = makeRequest(somePrompt(1 + i % 20, i), 17, params);
      sent.push_back({engine->submit(request).value(), request});
    }
    Results results = runDry(*engine);
    EXPECT_GE(engine->stats().preemptions, 1);
    EXPECT_EQ(engine->stats().finishedRequests, 30);
    for (const auto &[id, request] : sent) {
      EXPECT_EQ((results[{id, 0}]), soloResult(request, options))
          << "request " << id << " window " << window;
    }
  }
}

TEST(EngineCacheTest, Kv4AbortStorm) {
  ToyModel toy;
  auto engine =
      makeEngine(toy, {.threads = 2, .cacheTokens = 64, .maxBatchTokens = 16});
  std::mt19937 random(11);
  std::vector<RequestId> open;
  Results ignored;
  for (int i = 0; i < 200; ++i) {
    SamplingParams params{.temperature = 1, .seed = random()};
    auto id = engine->submit(makeRequest(somePrompt(1 + random() % 40, i),
                                         1 + random() % 30, params,
                                         1 + random() % 3));
    ASSERT_TRUE(id.ok()) << id.status();
    open.push_back(*id);
    for (uint32_t steps = random() % 4; steps > 0; --steps) {
      auto events = engine->step();
      ASSERT_TRUE(events.ok()) << events.status();
      ASSERT_TRUE(engine->checkBalance().ok()) << engine->checkBalance();
    }
    while (open.size() > 1 && random() % 3 != 0) {
      size_t pick = random() % open.size();
      // NotFound when it has finished already.
      (void)engine->cancel(open[pick]);
      EXPECT_FALSE(engine->cancel(open[pick]).ok()) << "cancelled twice";
      open.erase(open.begin() + pick);
      ASSERT_TRUE(engine->checkBalance().ok()) << engine->checkBalance();
    }
  }
  for (RequestId id : open) {
    (void)engine->cancel(id);
  }
  EXPECT_FALSE(engine->hasWork());
  EXPECT_EQ(engine->stats().cache.usedBytes, 0);
  EXPECT_EQ(engine->stats().runningSequences, 0);
  EXPECT_EQ(engine->stats().waitingSequences, 0);
  EXPECT_GE(engine->stats().preemptions, 1);
  // The whole pool is there for one request.
  RequestId big = engine->submit(makeRequest(somePrompt(60), -1)).value();
  Results results = runDry(*engine);
  EXPECT_EQ((results[{big, 0}].tokens.size()), 5u);
}

/// Every returned logprob equals the one of a fresh prefill of its prefix.
void expectRescored(const std::vector<int64_t> &prompt, const Result &result) {
  std::vector<int32_t> tokens(prompt.begin(), prompt.end());
  for (size_t i = 0; i < result.tokens.size(); ++i) {
    std::vector<float> logits =
        denseLogits(tokens, static_cast<int64_t>(prompt.size()));
    double sum = 0;
    for (float logit : logits) {
      sum += std::exp(static_cast<double>(logit));
    }
    ASSERT_NEAR(result.logprobs[i], logits[result.tokens[i]] - std::log(sum),
                1e-4)
        << "token " << i;
    tokens.push_back(result.tokens[i]);
  }
}

TEST(EngineCacheTest, Kv5ChoicesWriteToPagesOfTheirOwn) {
  // 6 tokens in pages of 4: the second page is shared and half full.
  for (int64_t cacheTokens : {256, 32}) {
    ToyModel toy;
    auto engine = makeEngine(toy, {.threads = 1, .cacheTokens = cacheTokens});
    SamplingParams params{.temperature = 1, .seed = 3};
    RequestId id =
        engine->submit(makeRequest(somePrompt(6), 16, params, 3)).value();
    Results results = runDry(*engine);
    for (uint32_t choice : {0u, 1u, 2u}) {
      ASSERT_EQ((results[{id, choice}].tokens.size()), 16u);
      expectRescored(somePrompt(6), results[{id, choice}]);
    }
  }
}

TEST(EngineCacheTest, Kv5ChoicesShareThePromptsPages) {
  ToyModel toy;
  auto engine = makeEngine(toy, {.threads = 1, .cacheTokens = 256});
  SamplingParams params{.temperature = 1, .seed = 3};
  ASSERT_TRUE(engine->submit(makeRequest(somePrompt(14), 16, params, 3)).ok());
  Results results;
  int64_t page = 2 * 64;
  stepInto(*engine, results); // 4 pages hold the prompt, for all three
  EXPECT_EQ(engine->stats().cache.usedBytes, 4 * page);
  stepInto(*engine, results); // two writers copied the partial page
  EXPECT_EQ(engine->stats().cache.usedBytes, 6 * page);
  runDry(*engine, results);
}

TEST(EngineCacheTest, Kv5EqualPromptsAtOnce) {
  ToyModel toy;
  auto engine = makeEngine(toy, {.threads = 1, .cacheTokens = 256});
  RequestId a = engine->submit(makeRequest(somePrompt(12), 16)).value();
  RequestId b = engine->submit(makeRequest(somePrompt(12), 16)).value();
  Results results = runDry(*engine);
  EXPECT_EQ((results[{a, 0}]), (results[{b, 0}]));
  expectRescored(somePrompt(12), results[{a, 0}]);
}

} // namespace
} // namespace quire::toy
