// Engine::score: the logits of given text, for `quire eval`. Rows are handed
// out step by step, so that memory stays bounded by one step's logits.

#include "absl/strings/str_cat.h"
#include "runtime/Engine.h"
#include "runtime/engine/StatusMacros.h"

#include <algorithm>

namespace quire {

absl::Status Engine::score(std::span<const int64_t> tokens,
                           const ScoreOptions &options,
                           const LogitsCallback &callback) {
  if (!requests.empty()) {
    return absl::FailedPreconditionError(
        "requests are running; score text before or after them");
  }
  QUIRE_RETURN_IF_ERROR(checkTokens(tokens));
  int64_t count = static_cast<int64_t>(tokens.size());
  int64_t limit = std::min(maxContext, poolTokens);
  if (count > limit) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the text has ", count, " tokens, one window holds at most ", limit,
        "; cut it into windows (--context) or raise --cache-tokens"));
  }
  int64_t chunk = std::min(maxBatchTokens, executor->limits().maxLogitRows);
  if (options.chunk > 0) {
    chunk = std::min(chunk, options.chunk);
  }
  int64_t promptLength = options.generatedFrom < 0
                             ? count
                             : std::min(count, options.generatedFrom);
  PageTable pages(*pool, materialisedTokens(promptLength, materialisedBlock));
  for (int64_t begin = 0; begin < count;) {
    int64_t size = std::min(chunk, count - begin);
    // A small pool with windows may hold fewer rows at once.
    while (!pages.reserve(begin, begin + size)) {
      if (size == 1) {
        return absl::ResourceExhaustedError(
            "the key/value cache is full; raise --cache-tokens");
      }
      size /= 2;
    }
    batch->clear();
    int32_t index = batch->addSequence(pages);
    for (int64_t position = begin; position < begin + size; ++position) {
      batch->addRow(index, {.token = static_cast<int32_t>(tokens[position]),
                            .position = static_cast<int32_t>(position),
                            .context = static_cast<int32_t>(position),
                            .role = position < promptLength ? kQuirePrompt
                                                            : kQuireGenerated,
                            .form = pages.formOf(position),
                            .wantsLogits = true});
    }
    QUIRE_RETURN_IF_ERROR(executor->run(*batch));
    for (int64_t row = 0; row < size; ++row) {
      QUIRE_RETURN_IF_ERROR(callback(begin + row, executor->logits(row)));
    }
    begin += size;
    pages.releaseBefore(begin);
  }
  return absl::OkStatus();
}

} // namespace quire
