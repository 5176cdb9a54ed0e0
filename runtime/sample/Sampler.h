// From logits to a token. The stages, in the order of Hugging Face
// transformers: penalties, bias, temperature, top-k, top-p, min-p, draw. A
// draw is Gumbel-max with counter-based noise (Noise.h). Logprobs are of the
// unmodified logits. Owns scratch of one vocabulary; one thread at a time.

#ifndef QUIRE_RUNTIME_SAMPLE_SAMPLER_H
#define QUIRE_RUNTIME_SAMPLE_SAMPLER_H

#include "absl/status/statusor.h"
#include "runtime/engine/Ledger.h"
#include "runtime/sample/LogitScan.h"
#include "runtime/sample/SamplingParams.h"

#include <span>
#include <vector>

namespace quire {

struct TokenLogprob {
  int32_t token = -1;
  float logprob = 0;
};

struct SampledToken {
  int32_t token = -1;
  float logprob = 0;             // only if asked for
  std::vector<TokenLogprob> top; // most probable first
};

/// What one draw depends on. The history is a path: in a token tree each node
/// has its own.
struct SampleInput {
  std::span<const float> logits;   // [vocabulary]
  std::span<const int32_t> tokens; // prompt and generated so far
  int64_t promptLength = 0;
  uint32_t choice = 0;
  NoisePurpose purpose = NoisePurpose::Target;
};

class Sampler {
public:
  explicit Sampler(int64_t vocabulary);

  /// Params must be valid. An error (non-finite logits) concerns this row
  /// alone.
  absl::StatusOr<SampledToken> sample(const SampleInput &input,
                                      const SamplingParams &params);

  void addTo(Ledger &ledger) const;

private:
  std::span<const float> modify(const SampleInput &input,
                                const SamplingParams &params);
  void applyPenalties(const SampleInput &input, const SamplingParams &params);
  int32_t draw(std::span<const float> logits, int32_t best,
               const SampleInput &input, const SamplingParams &params);
  bool truncate(std::span<const float> scores, const SamplingParams &params);
  void keepTopP(std::span<const float> scores, double topP, bool listed);
  void addLogprobs(std::span<const float> logits, float top,
                   SampledToken &result);

  std::vector<float> work;      // modified logits, then scores
  std::vector<uint32_t> seenIn; // call number that last met a token
  std::vector<uint32_t> counts; // generated occurrences in that call
  uint32_t call = 0;
  BlockMaxima maxima;
  std::vector<Candidate> candidates;
};

} // namespace quire

#endif
