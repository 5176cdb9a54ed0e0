// The vocabulary passes against plain loops, and the generator against its
// published answers.

#include "runtime/sample/LogitScan.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace quire {
namespace {

std::vector<float> randomScores(int64_t count, double scale, int seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, static_cast<float>(scale));
  std::vector<float> scores(count);
  for (float &score : scores) {
    score = normal(random);
  }
  return scores;
}

TEST(NoiseTest, PhiloxKnownAnswers) {
  // From the Random123 distribution's kat_vectors.
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, 0),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox4x32({ones, ones, ones, ones}, ~uint64_t{0}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                       0x299f31d0a4093822),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

class LogitScanTest : public testing::TestWithParam<int64_t> {};

TEST_P(LogitScanTest, ArgmaxTakesTheLowestOfEquals) {
  std::vector<float> scores(GetParam(), 1);
  BlockMaxima maxima;
  maxima.compute(scores);
  EXPECT_EQ(maxima.argmax(scores), 0);
  scores.back() = 2;
  maxima.compute(scores);
  EXPECT_EQ(maxima.argmax(scores), GetParam() - 1);
}

TEST_P(LogitScanTest, SumOfExponentials) {
  std::vector<float> scores = randomScores(GetParam(), 6, 1);
  float top = *std::max_element(scores.begin(), scores.end());
  double wanted = 0;
  for (float score : scores) {
    wanted += std::exp(static_cast<double>(score) - top);
  }
  EXPECT_NEAR(sumOfExponentials(scores, top) / wanted, 1, 1e-6);
}

TEST_P(LogitScanTest, LargestEqualsASort) {
  std::vector<float> scores = randomScores(GetParam(), 1, 2);
  for (float &score : scores) {
    score = std::round(score * 8) / 8; // many equals
  }
  BlockMaxima maxima;
  maxima.compute(scores);
  std::vector<Candidate> wanted;
  for (int64_t i = 0; i < GetParam(); ++i) {
    wanted.push_back({static_cast<int32_t>(i), scores[i]});
  }
  std::sort(wanted.begin(), wanted.end(), [](auto &a, auto &b) {
    return a.score > b.score || (a.score == b.score && a.token < b.token);
  });
  for (int64_t k :
       {int64_t{1}, int64_t{5}, int64_t{40}, GetParam(), GetParam() + 1}) {
    std::vector<Candidate> got;
    largest(scores, maxima, k, got);
    ASSERT_EQ(static_cast<int64_t>(got.size()), std::min(k, GetParam()));
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].token, wanted[i].token) << "k " << k << " rank " << i;
    }
  }
}

TEST_P(LogitScanTest, GumbelScanEqualsThePlainOne) {
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<float> scores =
        randomScores(GetParam(), trial % 2 ? 8 : .5, trial);
    BlockMaxima maxima;
    maxima.compute(scores);
    std::vector<Candidate> all;
    for (int64_t i = 0; i < GetParam(); ++i) {
      all.push_back({static_cast<int32_t>(i), scores[i]});
    }
    NoiseKey key{static_cast<uint64_t>(trial) << 33, 3, 9,
                 NoisePurpose::Target};
    int32_t best = static_cast<int32_t>(maxima.argmax(scores));
    ASSERT_EQ(gumbelArgmax(scores, maxima, best, key), gumbelArgmax(all, key));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, LogitScanTest,
                         testing::Values(1, 3, 64, 65, 1000, 4096));

} // namespace
} // namespace quire
