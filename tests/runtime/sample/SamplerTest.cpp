// The sampler against arithmetic: distributions, ties, penalties, stages and
// logprobs. SMP-n and SPEC-2 are reported failures of other engines.

#include "runtime/sample/Sampler.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

namespace quire {
namespace {

using testing::HasSubstr;

constexpr int kVocabulary = 64;

/// log p for the first tokens, -40 for the rest.
std::vector<float> planted(std::vector<double> probabilities) {
  std::vector<float> logits(kVocabulary, -40);
  for (size_t i = 0; i < probabilities.size(); ++i) {
    logits[i] = static_cast<float>(std::log(probabilities[i]));
  }
  return logits;
}

int32_t sampleOne(Sampler &sampler, std::span<const float> logits,
                  const SamplingParams &params,
                  std::vector<int32_t> history = {0}, int64_t prompt = 1) {
  auto result = sampler.sample({logits, history, prompt}, params);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? result->token : -1;
}

std::vector<double> frequencies(const std::vector<float> &logits,
                                SamplingParams params, int draws = 20000) {
  Sampler sampler(static_cast<int64_t>(logits.size()));
  std::vector<double> result(logits.size());
  for (int i = 0; i < draws; ++i) {
    params.seed = i;
    result[sampleOne(sampler, logits, params)] += 1.0 / draws;
  }
  return result;
}

void expectDistribution(const std::vector<double> &got,
                        std::vector<double> wanted) {
  wanted.resize(got.size());
  double distance = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    distance += std::abs(got[i] - wanted[i]) / 2;
    if (wanted[i] == 0) {
      EXPECT_EQ(got[i], 0) << "token " << i << " is impossible";
    }
  }
  EXPECT_LT(distance, 0.015);
}

TEST(SamplerTest, Spec2DistributionOfEachSetting) {
  std::vector<float> logits = planted({.5, .3, .2});
  expectDistribution(frequencies(logits, {.temperature = 1}), {.5, .3, .2});
  expectDistribution(frequencies(logits, {.temperature = 1, .topP = .7}),
                     {.625, .375});
  expectDistribution(frequencies(logits, {.temperature = 1, .minP = .5}),
                     {.625, .375});
  expectDistribution(
      frequencies(logits, {.temperature = 1, .logitBias = {{0, -100}}}),
      {0, .6, .4});
  expectDistribution(frequencies(logits, {.temperature = 0}, 100), {1});
}

TEST(SamplerTest, Smp1TopKLimits) {
  std::vector<float> logits = planted({.5, .3, .2});
  for (int64_t k : {0, -1, 64, 9999999}) {
    expectDistribution(frequencies(logits, {.temperature = 1, .topK = k}),
                       {.5, .3, .2});
  }
  expectDistribution(frequencies(logits, {.temperature = 1, .topK = 1}, 500),
                     {1});
  expectDistribution(frequencies(logits, {.temperature = 1, .topK = 2}),
                     {.625, .375});
  EXPECT_THAT(validate({.topK = -2}, kVocabulary).message(),
              HasSubstr("top_k"));
}

TEST(SamplerTest, Smp2TemperatureZeroAndTiny) {
  std::vector<float> logits = {1, 1, 0};
  Sampler sampler(3);
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(sampleOne(sampler, logits, {.temperature = 0, .seed = i}), 0);
    EXPECT_EQ(
        sampleOne(sampler, logits, {.temperature = 0, .topP = .9, .seed = i}),
        0);
    for (double tiny : {1e-5, 1e-38, 1e-300}) {
      int32_t token =
          sampleOne(sampler, logits, {.temperature = tiny, .seed = i});
      EXPECT_TRUE(token == 0 || token == 1) << token;
    }
  }
  EXPECT_THAT(validate({.temperature = -1}, 3).message(),
              HasSubstr("temperature"));
  EXPECT_THAT(validate({.temperature = std::nan("")}, 3).message(),
              HasSubstr("temperature"));
}

TEST(SamplerTest, Smp3Penalties) {
  // Token 0 has logit 2, token 1 has -1, both seen three times.
  std::vector<float> logits(kVocabulary, 0);
  logits[0] = 2;
  logits[1] = -1;
  std::vector<int32_t> history = {0, 1, 0, 1, 0, 1};
  Sampler sampler(kVocabulary);
  // Repetition 1.5 makes them 1.33333 and -1.5: a bias on token 2 around
  // those values tells on which side they are.
  auto wins = [&](SamplingParams params, int64_t prompt, double bias) {
    params.logitBias.push_back({2, bias});
    return sampleOne(sampler, logits, params, history, prompt) == 2;
  };
  EXPECT_FALSE(wins({.repetitionPenalty = 1.5}, 6, 1.3333));
  EXPECT_TRUE(wins({.repetitionPenalty = 1.5}, 6, 1.3334));
  EXPECT_FALSE(wins({.repetitionPenalty = 1.5}, 0, 1.3333)) << "prompt or not";
  // Negative logits move away from zero.
  std::vector<float> low(kVocabulary, -100);
  low[1] = -1;
  low[2] = -1.4999f;
  EXPECT_EQ(sampleOne(sampler, low, {.repetitionPenalty = 1.5}, {1, 1, 1}, 3),
            2);
  low[2] = -1.5001f;
  EXPECT_EQ(sampleOne(sampler, low, {.repetitionPenalty = 1.5}, {1, 1, 1}, 3),
            1);
  // Presence and frequency: generated tokens only.
  EXPECT_FALSE(wins({.presencePenalty = 1}, 6, 1.9999));
  EXPECT_TRUE(wins({.presencePenalty = 1}, 3, 1.0001));
  EXPECT_FALSE(wins({.presencePenalty = 1}, 3, .9999));
  EXPECT_FALSE(wins({.frequencyPenalty = .25}, 6, 1.9999));
  EXPECT_TRUE(wins({.frequencyPenalty = .25}, 0, 1.2501));
  EXPECT_FALSE(wins({.frequencyPenalty = .25}, 0, 1.2499));
}

TEST(SamplerTest, Smp4TokensOutsideTheVocabulary) {
  for (int64_t token :
       {int64_t{-1}, int64_t{kVocabulary}, int64_t{kVocabulary + 1},
        int64_t{1} << 31, std::numeric_limits<int64_t>::max()}) {
    EXPECT_THAT(validate({.logitBias = {{token, 1}}}, kVocabulary).message(),
                HasSubstr("logit_bias"));
    EXPECT_THAT(validate({.stopTokens = {token}}, kVocabulary).message(),
                HasSubstr("stop_token_ids"));
  }
}

TEST(SamplerTest, Smp5TemperatureComesBeforeTopP) {
  std::vector<float> logits(kVocabulary, -40);
  logits[0] = 3;
  logits[1] = 2;
  logits[2] = 1;
  expectDistribution(frequencies(logits, {.temperature = .5, .topP = .8}, 2000),
                     {1});
}

TEST(SamplerTest, Smp5LogprobsAreOfTheUnmodifiedLogits) {
  std::vector<float> logits = {3, 2, 1};
  const double wanted[] = {-0.40761, -1.40761, -2.40761};
  Sampler sampler(3);
  std::vector<int32_t> history = {0};
  for (double temperature : {0., .5, 1., 2.}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      auto result =
          sampler.sample({logits, history, 1}, {.temperature = temperature,
                                                .repetitionPenalty = 1.3,
                                                .logprobs = 3,
                                                .seed = seed});
      ASSERT_TRUE(result.ok());
      EXPECT_NEAR(result->logprob, wanted[result->token], 1e-5);
      ASSERT_EQ(result->top.size(), 3u);
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(result->top[i].token, i);
        EXPECT_NEAR(result->top[i].logprob, wanted[i], 1e-5);
      }
    }
  }
}

TEST(SamplerTest, StopTokensAreImpossibleBeforeMinTokens) {
  std::vector<float> logits = planted({.9, .1});
  Sampler sampler(kVocabulary);
  SamplingParams params{.minTokens = 2, .stopTokens = {0}};
  EXPECT_EQ(sampleOne(sampler, logits, params, {5}, 1), 1);
  EXPECT_EQ(sampleOne(sampler, logits, params, {5, 1}, 1), 1);
  EXPECT_EQ(sampleOne(sampler, logits, params, {5, 1, 1}, 1), 0);
}

TEST(SamplerTest, NonFiniteLogitsAreAnError) {
  Sampler sampler(kVocabulary);
  std::vector<int32_t> history = {0};
  for (float bad : {std::numeric_limits<float>::quiet_NaN(),
                    std::numeric_limits<float>::infinity(),
                    -std::numeric_limits<float>::infinity()}) {
    for (int where : {0, 17, 63}) {
      std::vector<float> logits(kVocabulary, 1);
      logits[where] = bad;
      auto result = sampler.sample({logits, history, 1}, {});
      EXPECT_THAT(result.status().message(), HasSubstr("non-finite"));
    }
  }
}

TEST(SamplerTest, RangesAreChecked) {
  struct Case {
    SamplingParams params;
    const char *field;
  };
  const Case cases[] = {
      {{.topP = 0}, "top_p"},
      {{.topP = 1.1}, "top_p"},
      {{.minP = -.1}, "min_p"},
      {{.repetitionPenalty = 0}, "repetition"},
      {{.logprobs = 65}, "logprobs"},
      {{.maxTokens = 0}, "max_tokens"},
      {{.minTokens = -1}, "min_tokens"},
      {{.presencePenalty = std::nan("")}, "presence"},
      {{.frequencyPenalty = INFINITY}, "frequency"},
      {{.logitBias = {{1, NAN}}}, "logit_bias"},
  };
  for (const Case &test : cases) {
    EXPECT_THAT(validate(test.params, kVocabulary).message(),
                HasSubstr(test.field));
  }
  EXPECT_TRUE(validate({}, kVocabulary).ok());
}

} // namespace
} // namespace quire
