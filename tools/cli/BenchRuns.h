// The timed runs of `quire bench` on an open engine, with made-up tokens and
// no tokens that end a text. Rates are tokens per second, one a repeat.

#ifndef QUIRE_TOOLS_CLI_BENCHRUNS_H
#define QUIRE_TOOLS_CLI_BENCHRUNS_H

#include "runtime/Engine.h"

#include <functional>
#include <vector>

namespace quire::cli {

/// `count` token ids spread over the vocabulary, the same every time.
std::vector<int64_t> benchTokens(int64_t count, int64_t vocabulary,
                                 uint64_t seed);

/// Told when a timed stretch begins (true) and when it has ended; called
/// outside of it.
using StretchWatcher = std::function<void(bool begins)>;

/// The rate of `prompt` tokens that follow `depth` others.
absl::StatusOr<std::vector<double>> prefillRates(Engine &engine, int64_t prompt,
                                                 int64_t depth, int64_t repeats,
                                                 const StretchWatcher &watch);

struct DecodeShape {
  int64_t batch = 1;
  int64_t depth = 0; // tokens before the first timed one; 0 means one
  int64_t generate = 128;
};

/// All sequences together. Short depths are prefilled anew for each repeat;
/// beyond kRollingDepth the repeats follow each other in the same sequences,
/// which drifts by a small part of the depth.
inline constexpr int64_t kRollingDepth = 512;
absl::StatusOr<std::vector<double>> decodeRates(Engine &engine,
                                                const DecodeShape &shape,
                                                int64_t repeats,
                                                const StretchWatcher &watch);

/// Positions that a sequence needs for this.
int64_t decodePositions(const DecodeShape &shape, int64_t repeats);

} // namespace quire::cli

#endif
