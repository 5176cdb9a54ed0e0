// Rotary position embedding: from what a configuration says to the inverse
// frequencies and the amplitude that the IR holds. Pure functions.

#ifndef QUIRE_MODELS_ROPE_H
#define QUIRE_MODELS_ROPE_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace quire {

enum class RopeKind { Default, Linear, Llama3, Yarn, Dynamic, LongRope };

struct RopeConfig {
  RopeKind kind = RopeKind::Default;
  double base = 10000;
  int64_t rotaryDim = 0;       // channels of a head that rotate
  double factor = 1;           // by which the context grew
  int64_t originalContext = 0; // positions the model was trained on
  int64_t maxContext = 0;      // max_position_embeddings
  // Llama 3
  double lowFrequencyFactor = 1;
  double highFrequencyFactor = 4;
  // YaRN
  double betaFast = 32;
  double betaSlow = 1;
  bool truncate = true;
  double mscale = 0; // 0: not given
  double mscaleAllDim = 0;
  // YaRN, LongRoPE: what the configuration sets outright
  std::optional<double> attentionFactor = {};
  // LongRoPE
  std::vector<double> shortFactor = {};
  std::vector<double> longFactor = {};
  // GGUF stores some scalings as divisors of the frequencies.
  std::vector<float> frequencyDivisors = {};
};

struct RopeTable {
  std::vector<float> inverseFrequency; // [rotaryDim / 2]
  double amplitude = 1;
  // Dynamic scaling, from a row's own position; context 0: none.
  int64_t dynamicContext = 0;
  double dynamicBase = 0;
  double dynamicFactor = 0;
};

/// By how much YaRN lengthens a query or key: 0.1 mscale ln(factor) + 1.
double yarnMagnitude(double factor, double mscale);

/// `context` is the most positions the engine may reach: LongRoPE takes its
/// long table when that is more than the original context. Errors name the
/// field that is missing or contradictory.
absl::StatusOr<RopeTable> makeRopeTable(const RopeConfig &config,
                                        int64_t context);

} // namespace quire

#endif
