#include "runtime/text/Importers.h"

#include <algorithm>

namespace quire {

static constexpr std::string_view SpaceMark = "\u2581";

static TextStep step(NormalizerKind kind, uint32_t flags,
                     std::string_view pattern, std::string_view content) {
  return {static_cast<uint8_t>(kind), SplitBehavior::Isolated, flags,
          std::string(pattern), std::string(content)};
}

void applySentencePieceRules(const SentencePieceRules &rules,
                             TokenizerData &data) {
  if (!rules.charsMap.empty()) {
    data.normalizer.push_back(
        step(NormalizerKind::Precompiled, 0, rules.charsMap, ""));
  }
  if (rules.removeExtraSpaces) {
    data.normalizer.push_back(
        step(NormalizerKind::Replace, StepRegex, "\\A +| +\\z|(?<= ) +", ""));
  }
  data.decoder.replace.emplace_back(SpaceMark, " ");
  if (rules.dummyPrefix) {
    data.normalizer.push_back(step(NormalizerKind::Prepend, 0, "", SpaceMark));
    data.decoder.stripStart = " ";
    data.decoder.stripStartCount = 1;
  }
  data.normalizer.push_back(step(NormalizerKind::Replace, 0, " ", SpaceMark));
  if (rules.removeExtraSpaces) {
    // Marks that the text itself ends in go as well. The lookbehind keeps the
    // search linear: only a run's first mark is tried.
    data.normalizer.push_back(step(NormalizerKind::Replace, StepRegex,
                                   "(?<!\\u2581)\\u2581+\\z", ""));
  }
  data.decoder.byteFallback = data.byteFallback;
}

void addEndId(TokenizerData &data, TokenId id) {
  if (id >= 0 && std::ranges::find(data.endIds, id) == data.endIds.end()) {
    data.endIds.push_back(id);
  }
}

} // namespace quire
