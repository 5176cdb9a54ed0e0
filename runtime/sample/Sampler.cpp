#include "runtime/sample/Sampler.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quire {

namespace {

// Below this, dividing could overflow a float; the draw is the same.
constexpr double kSmallestTemperature = 1e-30;

bool moreProbable(const Candidate &a, const Candidate &b) {
  return a.score > b.score || (a.score == b.score && a.token < b.token);
}

bool keepsAll(int64_t topK, size_t vocabulary) {
  return topK <= 0 || topK >= static_cast<int64_t>(vocabulary);
}

} // namespace

Sampler::Sampler(int64_t vocabulary)
    : work(vocabulary), seenIn(vocabulary), counts(vocabulary) {}

absl::StatusOr<SampledToken> Sampler::sample(const SampleInput &input,
                                             const SamplingParams &params) {
  maxima.compute(input.logits);
  if (!maxima.finite) {
    return absl::InternalError(
        absl::StrCat("the model gave non-finite logits at position ",
                     input.tokens.size(), "; the request cannot go on"));
  }
  int64_t best = maxima.argmax(input.logits);
  if (best < 0) {
    return absl::InternalError("the model gave no logits");
  }
  SampledToken result;
  float top = input.logits[best];
  if (params.logprobs > 0) {
    // Listed before the draw, while the maxima are those of the logits.
    largest(input.logits, maxima, params.logprobs, candidates);
    for (const Candidate &candidate : candidates) {
      result.top.push_back({candidate.token, candidate.score});
    }
  }
  std::span<const float> logits = modify(input, params);
  if (logits.data() != input.logits.data()) {
    maxima.compute(logits);
    best = maxima.argmax(logits);
    if (logits[best] == -std::numeric_limits<float>::infinity()) {
      return absl::InternalError("no token is possible: every token is a stop "
                                 "token and min_tokens is not reached");
    }
  }
  result.token = params.temperature == 0
                     ? static_cast<int32_t>(best)
                     : draw(logits, static_cast<int32_t>(best), input, params);
  if (params.logprobs >= 0) {
    addLogprobs(input.logits, top, result);
  }
  return result;
}

/// The logits after penalties, bias and forbidden stop tokens: the input
/// itself when nothing changes.
std::span<const float> Sampler::modify(const SampleInput &input,
                                       const SamplingParams &params) {
  int64_t generated =
      static_cast<int64_t>(input.tokens.size()) - input.promptLength;
  bool forbidStop = generated < params.minTokens && !params.stopTokens.empty();
  if (!params.hasPenalties() && params.logitBias.empty() && !forbidStop) {
    return input.logits;
  }
  std::copy(input.logits.begin(), input.logits.end(), work.begin());
  if (params.hasPenalties()) {
    applyPenalties(input, params);
  }
  for (const LogitBias &entry : params.logitBias) {
    work[entry.token] += static_cast<float>(entry.bias);
  }
  if (forbidStop) {
    for (int64_t token : params.stopTokens) {
      work[token] = -std::numeric_limits<float>::infinity();
    }
  }
  return work;
}

void Sampler::applyPenalties(const SampleInput &input,
                             const SamplingParams &params) {
  if (++call == 0) { // wrapped: old marks could look new
    std::fill(seenIn.begin(), seenIn.end(), 0);
    call = 1;
  }
  for (size_t i = 0; i < input.tokens.size(); ++i) {
    int32_t token = input.tokens[i];
    if (seenIn[token] != call) {
      seenIn[token] = call;
      counts[token] = 0;
      float &logit = work[token];
      float penalty = static_cast<float>(params.repetitionPenalty);
      logit = logit > 0 ? logit / penalty : logit * penalty;
    }
    if (static_cast<int64_t>(i) >= input.promptLength) {
      if (counts[token]++ == 0) {
        work[token] -= static_cast<float>(params.presencePenalty);
      }
      work[token] -= static_cast<float>(params.frequencyPenalty);
    }
  }
}

int32_t Sampler::draw(std::span<const float> logits, int32_t best,
                      const SampleInput &input, const SamplingParams &params) {
  NoiseKey key{params.seed, input.choice,
               static_cast<uint32_t>(input.tokens.size()), input.purpose};
  float temperature =
      static_cast<float>(std::max(params.temperature, kSmallestTemperature));
  // The largest score is 0 whatever the temperature.
  shiftAndDivide(logits, logits[best], temperature, work);
  maxima.compute(work);
  if (truncate(work, params)) {
    return gumbelArgmax(candidates, key);
  }
  return gumbelArgmax(work, maxima, best, key);
}

/// Applies top-k, top-p, min-p. False: every token stays; true: the survivors
/// are in `candidates`.
bool Sampler::truncate(std::span<const float> scores,
                       const SamplingParams &params) {
  bool listed = false;
  if (!keepsAll(params.topK, scores.size())) {
    largest(scores, maxima, params.topK, candidates);
    listed = true;
  }
  if (params.topP < 1) {
    keepTopP(scores, params.topP, listed);
    listed = true;
  }
  if (params.minP > 0) {
    float threshold = static_cast<float>(std::log(params.minP));
    if (listed) {
      std::erase_if(candidates, [&](const Candidate &candidate) {
        return candidate.score < threshold;
      });
    } else {
      collectAtLeast(scores, maxima, threshold, candidates);
      listed = true;
    }
  }
  return listed;
}

/// Keeps the shortest run of most probable tokens whose probability reaches
/// topP, at least one: a weighted quickselect, linear in the candidates. The
/// survivors are in no particular order.
void Sampler::keepTopP(std::span<const float> scores, double topP,
                       bool listed) {
  double total = 0;
  if (listed) {
    for (const Candidate &candidate : candidates) {
      total += exponential(candidate.score);
    }
  } else {
    total = sumOfExponentials(scores, 0);
    // All tokens under this threshold together have less than 1 - topP.
    double least = total * (1 - topP) / static_cast<double>(scores.size());
    collectAtLeast(scores, maxima, static_cast<float>(std::log(least)) - 1e-3f,
                   candidates);
  }
  auto begin = candidates.begin();
  auto end = candidates.end();
  double wanted = topP * total;
  while (end - begin > 1) {
    auto middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end, moreProbable);
    double upper = 0;
    for (auto it = begin; it != middle; ++it) {
      upper += exponential(it->score);
    }
    if (upper >= wanted) {
      end = middle;
    } else {
      wanted -= upper;
      begin = middle;
    }
  }
  candidates.erase(end, candidates.end());
}

void Sampler::addLogprobs(std::span<const float> logits, float top,
                          SampledToken &result) {
  double logSum = std::log(sumOfExponentials(logits, top));
  auto logprob = [&](float logit) {
    return static_cast<float>(static_cast<double>(logit) - top - logSum);
  };
  result.logprob = logprob(logits[result.token]);
  for (TokenLogprob &entry : result.top) {
    entry.logprob = logprob(entry.logprob);
  }
}

void Sampler::addTo(Ledger &ledger) const {
  int64_t vocabulary = static_cast<int64_t>(work.size());
  ledger.add({"sampler", "scratch",
              absl::StrCat("vocabulary ", vocabulary, " x 12 bytes"),
              vocabulary * 12});
}

} // namespace quire
