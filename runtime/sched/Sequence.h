// One sequence being generated: tokens, parameters, pages, state. A request
// with several choices has one sequence each; they share the prompt's pages.
// Owned by the engine; the scheduler moves it between its lists. The engine's
// thread only.

#ifndef QUIRE_RUNTIME_SCHED_SEQUENCE_H
#define QUIRE_RUNTIME_SCHED_SEQUENCE_H

#include "runtime/engine/StepAbi.h"
#include "runtime/kv/PageTable.h"
#include "runtime/sample/SamplingParams.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace quire {

using RequestId = uint64_t;

enum class SequenceState { Waiting, Running, Finished };

class Sequence {
public:
  /// `materialisedBlock` is the model's: whole blocks of the prompt attend on
  /// materialised keys (0: none do).
  Sequence(BlockPool &pool, RequestId request, std::vector<int32_t> prompt,
           SamplingParams params, int64_t lengthLimit,
           int64_t materialisedBlock = 0)
      : request(request), tokens(std::move(prompt)),
        promptLength(static_cast<int64_t>(tokens.size())),
        lengthLimit(lengthLimit), params(std::move(params)),
        pages(pool, materialisedTokens(promptLength, materialisedBlock)) {}

  /// A sibling that continues from the same tokens and shares all pages.
  std::unique_ptr<Sequence> fork(uint32_t siblingChoice) const;

  /// Requests are served in the order of their ids, choices within.
  bool before(const Sequence &other) const {
    return request != other.request ? request < other.request
                                    : choice < other.choice;
  }

  int64_t length() const { return static_cast<int64_t>(tokens.size()); }
  int64_t generated() const { return length() - promptLength; }
  /// Tokens whose keys and values are not in the cache yet. Prefill and
  /// recomputing have many, decoding has one.
  int64_t pending() const { return length() - computed; }
  /// A recomputed row keeps the role it had.
  QuireRole roleOf(int64_t position) const {
    return position < promptLength ? kQuirePrompt : kQuireGenerated;
  }

  /// Chunks, batches and recomputing keep a row's form, too.
  QuireForm formOf(int64_t position) const { return pages.formOf(position); }

  RequestId request;
  uint32_t choice = 0;
  std::vector<int32_t> tokens; // prompt, then generated
  int64_t promptLength;
  int64_t lengthLimit; // tokens it may reach: context, pool, max_tokens
  SamplingParams params;
  PageTable pages;
  int64_t computed = 0; // positions in the cache
  int64_t preemptions = 0;
  SequenceState state = SequenceState::Waiting;

private:
  Sequence(const Sequence &parent, PageTable shared);
};

} // namespace quire

#endif
