// Finds added tokens (control and user-defined) in text: leftmost first,
// longest of those that start at one place. Control tokens count only where
// the caller allows them, so that a user cannot write one. Immutable; any
// thread.

#ifndef QUIRE_RUNTIME_TEXT_ADDEDTOKENS_H
#define QUIRE_RUNTIME_TEXT_ADDEDTOKENS_H

#include "runtime/text/PrefixIndex.h"
#include "runtime/text/TokenizerImage.h"

#include <functional>

namespace quire {

/// A stretch of text: an added token, or (id -1) text for the model.
struct TextSpan {
  size_t begin = 0, end = 0;
  TokenId id = -1;
};

class AddedTokens {
public:
  /// An added token and the text it is searched by.
  struct Entry {
    std::string text;
    AddedToken token;
  };
  explicit AddedTokens(std::vector<Entry> entries);

  /// May a control token stand at [begin, end)?
  using Allowed = std::function<bool(size_t begin, size_t end)>;
  std::vector<TextSpan> partition(std::string_view text,
                                  const Allowed &specialAllowed) const;
  bool empty() const { return entries.empty(); }

private:
  struct TextAt {
    const Entry *entries;
    std::string_view operator()(size_t i) const { return entries[i].text; }
  };
  std::vector<Entry> entries; // in the order of their texts
  PrefixIndex<TextAt> index;
};

} // namespace quire

#endif
