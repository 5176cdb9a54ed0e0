// The first chain: rewrites a stretch of text (between added tokens) before it
// is cut into words. Built from TokenizerData's steps; immutable; any thread.

#ifndef QUIRE_RUNTIME_TEXT_NORMALIZER_H
#define QUIRE_RUNTIME_TEXT_NORMALIZER_H

#include "runtime/text/CharsMap.h"
#include "runtime/text/Regex.h"
#include "runtime/text/TokenizerData.h"

#include <optional>

namespace quire {

class Normalizer {
public:
  static absl::StatusOr<Normalizer> create(std::vector<TextStep> steps);

  /// `text` is valid UTF-8, and so is the result.
  absl::StatusOr<std::string> apply(std::string text) const;
  bool empty() const { return steps.empty(); }

private:
  struct Step {
    TextStep rule;
    std::optional<Regex> regex;
    std::optional<CharsMap> map;
  };
  absl::Status applyStep(const Step &step, std::string &text) const;
  std::vector<Step> steps;
};

} // namespace quire

#endif
