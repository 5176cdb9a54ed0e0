#include "runtime/text/AddedTokens.h"
#include "runtime/text/Utf8.h"

#include <algorithm>
#include <tuple>

namespace quire {

static std::vector<AddedTokens::Entry>
sorted(std::vector<AddedTokens::Entry> entries) {
  std::erase_if(entries, [](const auto &entry) { return entry.text.empty(); });
  std::ranges::sort(entries, [](const auto &a, const auto &b) {
    return std::tie(a.text, b.token.id) < std::tie(b.text, a.token.id);
  });
  return entries;
}

AddedTokens::AddedTokens(std::vector<Entry> list)
    : entries(sorted(std::move(list))),
      index(entries.size(), TextAt{entries.data()}) {}

/// The start of the last character of `text`, which is not empty.
static size_t lastCharacter(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (text[at] & 0xC0) == 0x80) {
    --at;
  }
  return at;
}

static bool betweenWords(std::string_view text, size_t begin, size_t end) {
  std::string_view before = text.substr(0, begin), after = text.substr(end);
  return (before.empty() ||
          !isWordCharacter(
              nextUtf8(before.substr(lastCharacter(before))).point)) &&
         (after.empty() || !isWordCharacter(nextUtf8(after).point));
}

static size_t skipSpacesBack(std::string_view text, size_t end, size_t limit) {
  while (end > limit) {
    size_t at = lastCharacter(text.substr(0, end));
    if (!isWhiteSpace(nextUtf8(text.substr(at)).point)) {
      break;
    }
    end = at;
  }
  return end;
}

static size_t skipSpaces(std::string_view text, size_t at) {
  while (at < text.size()) {
    Utf8Step step = nextUtf8(text.substr(at));
    if (!isWhiteSpace(step.point)) {
      break;
    }
    at += step.length;
  }
  return at;
}

std::vector<TextSpan>
AddedTokens::partition(std::string_view text,
                       const Allowed &specialAllowed) const {
  std::vector<TextSpan> spans;
  size_t covered = 0;
  for (size_t at = 0; at < text.size();) {
    const Entry *best = nullptr;
    index.forEachPrefix(text.substr(at), [&](size_t i) {
      const Entry &entry = entries[i];
      if (!(entry.token.flags & AddedSpecial) ||
          specialAllowed(at, at + entry.text.size())) {
        best = &entry;
      }
    });
    if (!best) {
      at += utf8Length(text[at]);
      continue;
    }
    size_t begin = at, end = at + best->text.size();
    at = end;
    uint32_t flags = best->token.flags;
    if ((flags & AddedSingleWord) && !betweenWords(text, begin, end)) {
      continue;
    }
    if (flags & AddedLstrip) {
      begin = skipSpacesBack(text, begin, covered);
    }
    if (flags & AddedRstrip) {
      at = end = skipSpaces(text, end);
    }
    if (covered < begin) {
      spans.push_back({covered, begin, -1});
    }
    spans.push_back({begin, end, static_cast<TokenId>(best->token.id)});
    covered = end;
  }
  if (covered < text.size()) {
    spans.push_back({covered, text.size(), -1});
  }
  return spans;
}

} // namespace quire
