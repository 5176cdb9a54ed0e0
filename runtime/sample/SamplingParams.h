// What a request asks of the sampler, and its validation. Plain data.

#ifndef QUIRE_RUNTIME_SAMPLE_SAMPLINGPARAMS_H
#define QUIRE_RUNTIME_SAMPLE_SAMPLINGPARAMS_H

#include "absl/status/status.h"

#include <cstdint>
#include <vector>

namespace quire {

struct LogitBias {
  int64_t token;
  double bias;
};

struct SamplingParams {
  double temperature = 0;       // 0: greedy, the lowest id among equals
  int64_t topK = 0;             // 0, -1 or at least the vocabulary: off
  double topP = 1;              // (0, 1]
  double minP = 0;              // [0, 1], of the most probable token
  double repetitionPenalty = 1; // prompt and generated tokens, once each
  double presencePenalty = 0;   // generated tokens
  double frequencyPenalty = 0;  // generated tokens, per occurrence
  std::vector<LogitBias> logitBias = {};
  int64_t logprobs = -1;  // -1: none; K: the chosen token's and the top K
  int64_t maxTokens = -1; // -1: up to the context limit
  int64_t minTokens = 0;  // stop tokens are impossible before
  std::vector<int64_t> stopTokens = {};
  uint64_t seed = 0;

  bool hasPenalties() const {
    return repetitionPenalty != 1 || presencePenalty != 0 ||
           frequencyPenalty != 0;
  }
  bool isStopToken(int64_t token) const;
};

/// InvalidArgument naming the first field that is out of range.
absl::Status validate(const SamplingParams &params, int64_t vocabulary);

} // namespace quire

#endif
