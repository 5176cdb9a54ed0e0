// A request's tokens and log probabilities are the same bits alone or in a
// crowd, however its prompt is cut, with any number of threads, at any page
// size, after preemption, and when it joins or is joined by others.

#include "runtime/engine/IsaLevel.h"
#include "tests/e2e/Harness.h"
#include "tests/runtime/EngineHarness.h"

#include "gtest/gtest.h"

namespace quire::e2e {
namespace {

using toy::makeRequest;
using toy::Result;
using toy::Results;
using toy::runDry;

constexpr int64_t kPrompt = 70, kNew = 24;

/// The request under test: greedy, or drawn.
Request subject(bool drawn) {
  SamplingParams params;
  if (drawn) {
    params.temperature = 1;
    params.seed = 42;
  }
  return makeRequest(tinyTokens(kPrompt, 1), kNew, params);
}

/// Sixteen others, long and short, greedy and drawn.
std::vector<Request> crowd() {
  std::vector<Request> requests;
  for (uint64_t i = 0; i < 16; ++i) {
    SamplingParams params{.temperature = i % 2 ? .8 : 0., .seed = i};
    requests.push_back(makeRequest(tinyTokens(int64_t(3 + i * 11), 100 + i),
                                   int64_t(5 + i * 2), params));
  }
  return requests;
}

Result alone(const std::string &path, const Request &request) {
  auto engine = load(path);
  if (!engine) {
    return {};
  }
  auto id = engine->submit(request);
  EXPECT_TRUE(id.ok()) << id.status();
  return runDry(*engine)[{*id, 0}];
}

/// How the subject meets the others.
enum class Joining { First, Middle, Last, WhileOthersDecode };

Result inCrowd(Engine &engine, const Request &request, Joining joining) {
  std::vector<Request> others = crowd();
  size_t before = joining == Joining::First    ? 0
                  : joining == Joining::Middle ? 8
                                               : others.size();
  Results results;
  for (size_t i = 0; i < before; ++i) {
    EXPECT_TRUE(engine.submit(others[i]).ok());
  }
  for (int i = 0; i < 6 && joining == Joining::WhileOthersDecode; ++i) {
    toy::stepInto(engine, results);
  }
  auto id = engine.submit(request);
  EXPECT_TRUE(id.ok()) << id.status();
  for (size_t i = before; i < others.size(); ++i) {
    EXPECT_TRUE(engine.submit(others[i]).ok());
  }
  return runDry(engine, std::move(results))[{*id, 0}];
}

struct Companies {
  std::vector<int> threads = {1, 2};
  std::vector<int64_t> rows = {1, 7, 512}; // most rows of a step
  std::vector<Joining> joining = {Joining::First, Joining::Middle,
                                  Joining::Last, Joining::WhileOthersDecode};
};

/// `expected` is what the subject alone gets in another engine.
void expectSameInEveryCompany(const std::string &path, const Request &request,
                              const Result &expected,
                              const Companies &companies = {}) {
  for (int threads : companies.threads) {
    for (int64_t rows : companies.rows) {
      SCOPED_TRACE(testing::Message()
                   << threads << " threads, " << rows << " rows a step");
      auto engine = load(path, {.threads = threads, .maxBatchTokens = rows});
      ASSERT_NE(engine, nullptr);
      auto id = engine->submit(request);
      EXPECT_EQ((runDry(*engine)[{*id, 0}]), expected) << "alone";
      // One row a step leaves no room for a crowd.
      for (Joining joining : companies.joining) {
        if (rows > 1) {
          EXPECT_EQ(inCrowd(*engine, request, joining), expected)
              << "joining at " << int(joining);
        }
      }
    }
  }
}

TEST(InvarianceTest, InEveryCompany) {
  for (bool drawn : {false, true}) {
    SCOPED_TRACE(drawn ? "drawn" : "greedy");
    Request request = subject(drawn);
    Result expected = alone(tinyEngine(), request);
    ASSERT_EQ(expected.tokens.size(), size_t(kNew));
    expectSameInEveryCompany(tinyEngine(), request, expected);
  }
}

TEST(InvarianceTest, InFourBits) {
  std::string path = tinyEngine({"--quantize", "int4"});
  Request request = subject(false);
  expectSameInEveryCompany(path, request, alone(path, request),
                           {.threads = {2}});
}

TEST(InvarianceTest, PageSizes) {
  Request request = subject(true);
  Result expected = alone(tinyEngine(), request);
  for (const char *size : {"1", "4", "64"}) {
    SCOPED_TRACE(size);
    expectSameInEveryCompany(tinyEngine({"--page-size", size}), request,
                             expected,
                             {{2}, {7, 512}, {Joining::WhileOthersDecode}});
  }
}

TEST(InvarianceTest, AfterPreemption) {
  for (const char *size : {"1", "16"}) {
    SCOPED_TRACE(size);
    std::string path = tinyEngine({"--page-size", size});
    for (bool drawn : {false, true}) {
      Request request = subject(drawn);
      Result expected = alone(path, request);
      auto engine = load(path, {.threads = 2, .cacheTokens = 240});
      ASSERT_NE(engine, nullptr);
      for (Joining joining :
           {Joining::First, Joining::Last, Joining::WhileOthersDecode}) {
        EXPECT_EQ(inCrowd(*engine, request, joining), expected)
            << "joining at " << int(joining);
      }
      EXPECT_GE(engine->stats().preemptions, 1);
    }
  }
}

TEST(InvarianceTest, RealModel) {
  std::string file = realModel("SmolLM2-135M-Instruct.Q4_1.gguf");
  if (file.empty()) {
    GTEST_SKIP() << "no SmolLM2: run tools/fetch-model smollm2";
  }
  std::string path = engineFor(file, {"--isa", std::string(bestIsaOfCpu())});
  Request request = subject(false);
  Result expected = alone(path, request);
  for (int64_t rows : {7, 512}) {
    auto engine = load(path, {.threads = 2, .maxBatchTokens = rows});
    ASSERT_NE(engine, nullptr);
    EXPECT_EQ(inCrowd(*engine, request, Joining::WhileOthersDecode), expected)
        << rows << " rows a step";
  }
}

} // namespace
} // namespace quire::e2e
