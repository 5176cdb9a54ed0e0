// Ends a stream of text at stop strings. Text that might still become one is
// held back, so that no character of a stop string is ever handed out. The stop
// string that is complete first ends the text (of several complete at the same
// byte, the one that began first), whatever order they are listed in and
// however the text is cut into chunks. One per stream; not thread-safe.

#ifndef QUIRE_RUNTIME_TEXT_STOPMATCHER_H
#define QUIRE_RUNTIME_TEXT_STOPMATCHER_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

class StopMatcher {
public:
  /// Empty strings are ignored.
  explicit StopMatcher(const std::vector<std::string> &stops);

  /// Takes the next text and returns what is safe to hand out now. After a
  /// stop has matched, returns nothing more.
  std::string push(std::string_view text);
  /// The held text, when the stream ends without a match.
  std::string finish();
  bool stopped() const { return done; }

private:
  /// A stop string and how much of it the text seen so far ends with
  /// (Knuth, Morris, Pratt 1977).
  struct Stop {
    std::string text;
    std::vector<size_t> fallback; // border length of each prefix
    size_t matched = 0;
    void advance(char c);
  };
  std::vector<Stop> stops;
  std::string held;
  bool done = false;
};

} // namespace quire

#endif
