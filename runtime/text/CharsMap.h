// SentencePiece's precompiled character map: a double-array trie (the layout
// of darts-clone) whose values point into a pool of zero-terminated
// replacements. Every index read from it is checked, because it comes from a
// file. Immutable; any thread.

#ifndef QUIRE_RUNTIME_TEXT_CHARSMAP_H
#define QUIRE_RUNTIME_TEXT_CHARSMAP_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

class CharsMap {
public:
  static absl::StatusOr<CharsMap> parse(std::string_view blob);

  struct Match {
    size_t length; // bytes of the text it replaces
    std::string_view replacement;
  };
  /// The longest (or the shortest) prefix of `text` that the map has.
  std::optional<Match> find(std::string_view text, bool longest) const;

  /// Hugging Face: one lookup a grapheme of at most five bytes, else one a
  /// character, each by its shortest known prefix. SentencePiece: the longest
  /// known prefix at each place.
  std::string apply(std::string_view text, bool graphemes) const;

private:
  void appendPart(std::string &out, std::string_view part) const;
  std::vector<uint32_t> units;
  std::string pool;
};

} // namespace quire

#endif
