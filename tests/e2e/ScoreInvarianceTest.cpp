// The logits of given tokens are the same bits however the tokens are cut
// into steps, whichever role the rows have, with any number of threads, at any
// page size, and whichever optional pass is left out.

#include "runtime/engine/IsaLevel.h"
#include "tests/e2e/Harness.h"
#include "tests/e2e/ScoreCuts.h"
#include "tests/support/Compare.h"

#include "gtest/gtest.h"

namespace quire::e2e {
namespace {

using test::sameBits;

class ScoreInvariance : public testing::TestWithParam<std::string> {};

TEST_P(ScoreInvariance, AtEveryIsaLevel) {
  std::string path = engineFor(kTinyModel, {"--quantize", GetParam()});
  for (const char *isa : kIsaLevels) {
    SCOPED_TRACE(isa);
    if (cpuSupportsIsa(isa)) {
      expectSameHoweverCut(path, tinyTokens(150), {.isa = isa});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ScoreInvariance,
                         testing::Values("keep", "f32", "int8", "int4",
                                         "int4a"));

TEST(ScoreInvarianceTest, CacheFormats) {
  for (const char *format : {"f32", "f16"}) {
    SCOPED_TRACE(format);
    expectSameHoweverCut(tinyEngine({"--kv", format}), tinyTokens(150), {});
  }
}

/// The default engine's logits, and an engine's that was compiled otherwise.
void expectSameAsDefault(const std::vector<std::string> &options) {
  auto engine = load(tinyEngine()), other = load(tinyEngine(options));
  ASSERT_NE(engine, nullptr);
  ASSERT_NE(other, nullptr);
  std::vector<int64_t> tokens = tinyTokens(300);
  EXPECT_TRUE(sameBits(scoreOf(*other, tokens), scoreOf(*engine, tokens)));
  EXPECT_TRUE(sameBits(scoreOf(*other, tokens, {.chunk = 7}),
                       scoreOf(*engine, tokens, {.chunk = 64})));
}

TEST(ScoreInvarianceTest, PageSizes) {
  for (const char *size : {"1", "4", "64"}) {
    SCOPED_TRACE(size);
    expectSameAsDefault({"--page-size", size});
  }
}

TEST(ScoreInvarianceTest, StepSizes) {
  for (const char *rows : {"1", "7", "2048"}) {
    SCOPED_TRACE(rows);
    expectSameAsDefault({"--max-batch-tokens", rows});
  }
}

TEST(ScoreInvarianceTest, OptionalPasses) {
  for (const char *pass :
       {"fuse-gated-mlp", "fuse-qkv", "fuse-residual-norm"}) {
    SCOPED_TRACE(pass);
    expectSameAsDefault({"--disable-pass", pass});
  }
  expectSameAsDefault({"--disable-pass", "fuse-gated-mlp", "--disable-pass",
                       "fuse-qkv", "--disable-pass", "fuse-residual-norm"});
}

TEST(ScoreInvarianceTest, RealModel) {
  std::string file = realModel("SmolLM2-135M-Instruct.Q4_1.gguf");
  if (file.empty()) {
    GTEST_SKIP() << "no SmolLM2: run tools/fetch-model smollm2";
  }
  expectSameHoweverCut(engineFor(file, {"--isa", std::string(bestIsaOfCpu())}),
                       tinyTokens(90), {});
}

} // namespace
} // namespace quire::e2e
