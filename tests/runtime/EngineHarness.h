// What the engine's tests share: running an engine dry and collecting each
// choice's result.

#ifndef QUIRE_TESTS_RUNTIME_ENGINEHARNESS_H
#define QUIRE_TESTS_RUNTIME_ENGINEHARNESS_H

#include "tests/runtime/ToyModel.h"

#include "gtest/gtest.h"

#include <map>
#include <utility>

namespace quire::toy {

struct Result {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;
  std::optional<Finish> finish;
  bool operator==(const Result &other) const {
    return tokens == other.tokens && logprobs == other.logprobs &&
           finish->reason == other.finish->reason &&
           finish->usage.completionTokens ==
               other.finish->usage.completionTokens;
  }
};

using Results = std::map<std::pair<RequestId, uint32_t>, Result>;

inline std::unique_ptr<Engine> makeEngine(const ToyModel &toy,
                                          const EngineOptions &options) {
  auto engine = Engine::create(toy.model, options);
  EXPECT_TRUE(engine.ok()) << engine.status();
  return *std::move(engine);
}

inline void collect(const std::vector<Event> &events, Results &results) {
  for (const Event &event : events) {
    Result &result = results[{event.request, event.choice}];
    EXPECT_FALSE(result.finish.has_value()) << "an event after the finish";
    if (event.token) {
      result.tokens.push_back(event.token->token);
      result.logprobs.push_back(event.token->logprob);
    }
    if (event.finish) {
      result.finish = event.finish;
    }
  }
}

inline void stepInto(Engine &engine, Results &results) {
  auto events = engine.step();
  ASSERT_TRUE(events.ok()) << events.status();
  collect(*events, results);
  ASSERT_TRUE(engine.checkBalance().ok()) << engine.checkBalance();
}

/// Runs until nothing is left; everything is given back then.
inline Results runDry(Engine &engine, Results results = {}) {
  for (int steps = 0; engine.hasWork() && steps < 20000; ++steps) {
    stepInto(engine, results);
    if (testing::Test::HasFatalFailure()) {
      break;
    }
  }
  EXPECT_FALSE(engine.hasWork()) << "the engine never came to an end";
  EXPECT_EQ(engine.stats().cache.usedBytes, 0);
  EXPECT_EQ(engine.stats().cache.freeBytes, engine.stats().cache.totalBytes);
  return results;
}

inline Request makeRequest(std::vector<int64_t> prompt, int64_t maxTokens,
                           SamplingParams params = {}, int64_t choices = 1) {
  params.maxTokens = maxTokens;
  if (params.logprobs < 0) {
    params.logprobs = 0;
  }
  return {std::move(prompt), std::move(params), choices};
}

/// The result of one request in an engine of its own with ample room.
inline Result soloResult(const Request &request, ToyOptions options = {}) {
  ToyModel toy(options);
  auto engine = makeEngine(toy, {.threads = 1, .cacheTokens = 1024});
  auto id = engine->submit(request);
  EXPECT_TRUE(id.ok()) << id.status();
  return runDry(*engine)[{*id, 0}];
}

inline std::vector<int64_t> somePrompt(int64_t length, int64_t seed = 0) {
  std::vector<int64_t> prompt(length);
  for (int64_t i = 0; i < length; ++i) {
    prompt[i] = (i * 7 + seed * 13 + i * i) % 60;
  }
  return prompt;
}

} // namespace quire::toy

#endif
