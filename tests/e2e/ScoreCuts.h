// Scoring the same tokens in steps of many sizes.

#ifndef QUIRE_TESTS_E2E_SCORECUTS_H
#define QUIRE_TESTS_E2E_SCORECUTS_H

#include "tests/e2e/Harness.h"
#include "tests/support/Compare.h"

namespace quire::e2e {

/// The logits have the same bits however the tokens are cut into steps,
/// whichever role their rows have, with one thread or two.
inline void expectSameHoweverCut(const std::string &path,
                                 const std::vector<int64_t> &tokens,
                                 EngineOptions options) {
  options.threads = 1;
  auto engine = load(path, options);
  ASSERT_NE(engine, nullptr);
  std::vector<float> expected = scoreOf(*engine, tokens);
  for (int64_t chunk : {1, 2, 7, 33, 512}) {
    EXPECT_TRUE(
        test::sameBits(scoreOf(*engine, tokens, {.chunk = chunk}), expected))
        << "chunks of " << chunk;
  }
  int64_t half = int64_t(tokens.size()) / 2;
  for (int64_t from : {int64_t(0), half}) {
    ScoreOptions generated{.generatedFrom = from};
    EXPECT_TRUE(test::sameBits(scoreOf(*engine, tokens, generated), expected))
        << "rows from " << from << " on count as generated";
    generated.chunk = 1;
    EXPECT_TRUE(test::sameBits(scoreOf(*engine, tokens, generated), expected))
        << "decoded one by one from " << from << " on";
  }
  options.threads = 2;
  auto twoThreads = load(path, options);
  ASSERT_NE(twoThreads, nullptr);
  for (int64_t chunk : {0, 1, 7}) {
    EXPECT_TRUE(test::sameBits(scoreOf(*twoThreads, tokens, {.chunk = chunk}),
                               expected))
        << "two threads, chunks of " << chunk;
  }
}

} // namespace quire::e2e

#endif
