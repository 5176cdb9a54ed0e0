// The second chain: cuts normalised text into the words that the piece model
// sees one at a time. Steps either cut, or rewrite (a space in front, spaces to
// marks). Built from TokenizerData's steps; immutable; any thread.

#ifndef QUIRE_RUNTIME_TEXT_PRETOKENIZER_H
#define QUIRE_RUNTIME_TEXT_PRETOKENIZER_H

#include "runtime/text/Regex.h"
#include "runtime/text/TokenizerData.h"

#include <optional>

namespace quire {

/// GPT-2's pattern, which the ByteLevel step implies.
inline constexpr std::string_view Gpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+)"
    R"(|\s+(?!\S)|\s+)";

/// A text and the words in it, in order.
struct Words {
  std::string text;
  std::vector<TextRange> ranges;
  bool atStart = false; // the text is the start of the whole input
};

class PreTokenizer {
public:
  static absl::StatusOr<PreTokenizer> create(std::vector<TextStep> steps);
  absl::Status apply(Words &words) const;

private:
  struct Step {
    TextStep rule;
    std::optional<Regex> regex;
  };
  absl::Status split(const Step &step, Words &words) const;
  std::vector<Step> steps;
};

} // namespace quire

#endif
