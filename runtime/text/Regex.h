// Regular expressions as tokenizer files write them. They are Oniguruma's
// dialect (Hugging Face's engine); a small translation makes PCRE2 agree on
// what \s, \w, ^ and $ mean and refuses what it cannot carry over. Compiled
// once, immutable afterwards; any thread may search.

#ifndef QUIRE_RUNTIME_TEXT_REGEX_H
#define QUIRE_RUNTIME_TEXT_REGEX_H

#include "absl/status/statusor.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

struct TextRange {
  size_t begin = 0, end = 0;
  bool match = false;
};

class Regex {
public:
  static absl::StatusOr<Regex> compile(std::string_view pattern);
  Regex(Regex &&) noexcept;
  Regex &operator=(Regex &&) noexcept;
  ~Regex();

  /// Cuts [begin, end) of `text` (valid UTF-8) into matches and the gaps
  /// between them, in order and without holes; zero-width matches cut too.
  absl::Status partition(std::string_view text,
                         std::vector<TextRange> &out) const;

private:
  struct Impl;
  explicit Regex(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// The pattern in PCRE2's spelling, or why it has none.
absl::StatusOr<std::string> translateRegex(std::string_view pattern);

} // namespace quire

#endif
