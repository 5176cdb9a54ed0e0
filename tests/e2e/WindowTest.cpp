// A model with windowed and global layers: the invariances of InvarianceTest
// where each group of layers has pages of its own and those of the windowed
// one are given back while the sequence still grows.

#include "runtime/engine/IsaLevel.h"
#include "tests/e2e/Harness.h"
#include "tests/e2e/ScoreCuts.h"
#include "tests/e2e/WindowedModel.h"
#include "tests/runtime/EngineHarness.h"

#include "gtest/gtest.h"

namespace quire::e2e {
namespace {

using test::sameBits;
using toy::makeRequest;
using toy::Result;
using toy::Results;
using toy::runDry;

std::string windowedEngine(std::vector<std::string> options = {}) {
  static test::TemporaryDirectory folder;
  static bool written = (writeWindowedModel(folder), true);
  (void)written;
  options.insert(options.end(), {"--isa", std::string(bestIsaOfCpu())});
  return engineFor(folder.path(), options);
}

/// Ids of the windowed model.
std::vector<int64_t> someTokens(int64_t count, uint64_t seed) {
  std::vector<int64_t> tokens = tinyTokens(count, seed);
  for (int64_t &token : tokens) {
    token %= 256;
  }
  return tokens;
}

TEST(WindowTest, TwoCacheGroups) {
  auto engine = load(windowedEngine());
  ASSERT_NE(engine, nullptr);
  const manifest::Manifest &manifest = engine->engineDirectory()->manifest();
  ASSERT_EQ(manifest.cache_groups_size(), 2);
  EXPECT_EQ(
      manifest.cache_groups(0).layers() + manifest.cache_groups(1).layers(), 4);
  EXPECT_EQ(std::max(manifest.cache_groups(0).window(),
                     manifest.cache_groups(1).window()),
            12);
}

TEST(WindowTest, ScoresHoweverCut) {
  for (const char *pageSize : {"1", "4", "16"}) {
    SCOPED_TRACE(pageSize);
    expectSameHoweverCut(windowedEngine({"--page-size", pageSize}),
                         someTokens(140, 1), {});
  }
}

TEST(WindowTest, NarrowFormatsFallBack) {
  // Rows of 72, 80 and 100 inputs are no whole groups of 32.
  for (const char *format : {"int8", "int4", "int4a"}) {
    SCOPED_TRACE(format);
    expectSameHoweverCut(windowedEngine({"--quantize", format}),
                         someTokens(50, 3), {});
  }
}

TEST(WindowTest, ScoresAtAnyPageSize) {
  std::vector<int64_t> tokens = someTokens(140, 2);
  std::vector<float> expected;
  for (const char *pageSize : {"16", "1", "4", "64"}) {
    auto engine = load(windowedEngine({"--page-size", pageSize}));
    ASSERT_NE(engine, nullptr);
    std::vector<float> got = scoreOf(*engine, tokens, {.chunk = 9});
    if (expected.empty()) {
      expected = got;
    }
    EXPECT_TRUE(sameBits(got, expected)) << pageSize;
  }
}

TEST(WindowTest, RequestsInACrowdAndASmallPool) {
  for (const char *pageSize : {"4", "16"}) {
    std::string path = windowedEngine({"--page-size", pageSize});
    auto alone = load(path);
    ASSERT_NE(alone, nullptr);
    std::vector<Request> requests;
    std::vector<Result> expected;
    for (uint64_t i = 0; i < 12; ++i) {
      SamplingParams params{.temperature = i % 2 ? 1. : 0., .seed = i};
      requests.push_back(
          makeRequest(someTokens(int64_t(3 + i * 7), i), 40, params));
      auto id = alone->submit(requests.back());
      ASSERT_TRUE(id.ok()) << id.status();
      expected.push_back(runDry(*alone)[{*id, 0}]);
    }
    int64_t preemptions = 0;
    for (int64_t cacheTokens : {0, 160}) {
      for (int64_t rows : {7, 33, 512}) {
        SCOPED_TRACE(testing::Message()
                     << "pages of " << pageSize << ", " << cacheTokens
                     << " cache tokens, " << rows << " rows a step");
        auto engine = load(
            path,
            {.threads = 2, .cacheTokens = cacheTokens, .maxBatchTokens = rows});
        ASSERT_NE(engine, nullptr);
        std::vector<RequestId> ids;
        Results results;
        for (const Request &request : requests) {
          auto id = engine->submit(request);
          ASSERT_TRUE(id.ok()) << id.status();
          ids.push_back(*id);
          toy::stepInto(*engine, results);
        }
        results = runDry(*engine, std::move(results));
        for (size_t i = 0; i < ids.size(); ++i) {
          EXPECT_EQ((results[{ids[i], 0}]), expected[i]) << "request " << i;
        }
        preemptions += engine->stats().preemptions;
      }
    }
    EXPECT_GE(preemptions, 1);
  }
}

} // namespace
} // namespace quire::e2e
