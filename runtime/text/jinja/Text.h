// A string that remembers where each of its bytes came from: the template (or
// its author's constants) or the data of the conversation. Special tokens
// count only in the former, so the distinction has to survive concatenation,
// slicing and every string method. Comparisons ignore it.
//
// The text is flat UTF-8; provenance is a sorted list of runs over it.

#ifndef QUIRE_RUNTIME_TEXT_JINJA_TEXT_H
#define QUIRE_RUNTIME_TEXT_JINJA_TEXT_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quire::jinja {

class Text {
public:
  /// A run ends before byte `end`; it begins where the one before it ended.
  struct Run {
    size_t end;
    bool fromData;
  };

  Text() = default;
  explicit Text(std::string_view bytes, bool fromData = false);

  const std::string &str() const { return bytes; }
  size_t size() const { return bytes.size(); }
  bool empty() const { return bytes.empty(); }
  const std::vector<Run> &runs() const { return provenance; }

  /// Whether the byte at `position` came from data.
  bool fromDataAt(size_t position) const;

  void append(std::string_view more, bool fromData = false);
  void append(const Text &more) { append(more, 0, more.size()); }
  /// Appends the bytes [begin, end) of `more`.
  void append(const Text &more, size_t begin, size_t end);

  /// The bytes [begin, end).
  Text slice(size_t begin, size_t end) const;

  /// Marked safe by the `safe` or `escape` filter: joined by `+` to other
  /// text, it has that text HTML-escaped first, as markupsafe does.
  bool markup = false;

private:
  std::string bytes;
  std::vector<Run> provenance;
};

} // namespace quire::jinja

#endif
