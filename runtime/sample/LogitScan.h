// The passes over a whole vocabulary, written so that compilers vectorise
// them; each is compiled for several ISA levels and picked when the program
// loads. Results do not depend on the level: no sum is reassociated.
// Pure functions; any thread.

#ifndef QUIRE_RUNTIME_SAMPLE_LOGITSCAN_H
#define QUIRE_RUNTIME_SAMPLE_LOGITSCAN_H

#include "runtime/sample/Noise.h"

#include <cstdint>
#include <span>
#include <vector>

namespace quire {

struct Candidate {
  int32_t token;
  float score;
};

inline constexpr int64_t kScanBlock = 64;

/// Maxima of blocks of kScanBlock scores.
struct BlockMaxima {
  std::vector<float> maxima;
  bool finite = true; // no NaN and no infinity anywhere

  void compute(std::span<const float> scores);
  /// The lowest index of the largest score; -1 for an empty span.
  int64_t argmax(std::span<const float> scores) const;
};

/// out[i] = (scores[i] - shift) / divisor.
void shiftAndDivide(std::span<const float> scores, float shift, float divisor,
                    std::span<float> out);

/// exp(x) for x <= 0, relative error below 3e-7; at least exp(-87).
float exponential(float x);

/// sum of exp(scores[i] - shift), for shift >= every score; relative error
/// below 1e-6.
double sumOfExponentials(std::span<const float> scores, float shift);

/// Every score >= threshold, by ascending token.
void collectAtLeast(std::span<const float> scores, const BlockMaxima &maxima,
                    float threshold, std::vector<Candidate> &out);

/// The k largest (fewer if there are fewer), largest first, equals by
/// ascending token.
void largest(std::span<const float> scores, const BlockMaxima &maxima,
             int64_t k, std::vector<Candidate> &out);

/// argmax over all tokens of score + gumbel noise; `best` is the token of the
/// largest score.
int32_t gumbelArgmax(std::span<const float> scores, const BlockMaxima &maxima,
                     int32_t best, const NoiseKey &key);

/// The same over listed candidates.
int32_t gumbelArgmax(std::span<const Candidate> candidates,
                     const NoiseKey &key);

} // namespace quire

#endif
