// Oniguruma's spelling to PCRE2's. What differs, and matters in tokenizers:
//   \s, \w  are other sets of characters (checked over all of Unicode)
//   [a[bc]] is a union of classes; PCRE2 knows only flat ones
//   \uNNNN  is a code point
//   {n,m}+  repeats the interval; in PCRE2 it would be possessive
//   [a&&b]  intersects classes; there is no equivalent: refused

#include "frontends/formats/StrCat.h"
#include "runtime/text/Regex.h"

namespace quire {

static constexpr std::string_view SpaceSet = R"(\t-\r\x{85}\p{Z})";
static constexpr std::string_view WordSet =
    R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE})"
    R"(\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169})"
    R"(\x{1F170}-\x{1F189})";

namespace {

class Translator {
public:
  explicit Translator(std::string_view pattern) : in(pattern) {}

  absl::StatusOr<std::string> run() {
    while (at < in.size() && error.empty()) {
      step();
    }
    if (depth > 0 && error.empty()) {
      error = "a character class is not closed";
    }
    if (!error.empty()) {
      return absl::UnimplementedError(
          strCat("the tokenizer's regular expression \"", in,
                 "\" cannot be used: ", error));
    }
    return std::move(out);
  }

private:
  std::string_view in;
  size_t at = 0;
  int depth = 0; // of nested classes
  std::string out, error;

  bool next(std::string_view what) const {
    return in.substr(at, what.size()) == what;
  }

  void copy(size_t count) {
    out += in.substr(at, count);
    at += count;
  }

  void step() {
    if (in[at] == '\\') {
      escape();
    } else if (depth > 0) {
      inClass();
    } else if (in[at] == '[') {
      openClass();
    } else if (in[at] == '{') {
      copy(intervalLength());
      if (in[at - 1] == '}' && next("+")) {
        error = "it repeats an interval ({n,m}+)";
      }
    } else {
      copy(1);
    }
  }

  /// Bytes of the interval {n,m} at `at`; 1 for a brace that means itself.
  size_t intervalLength() const {
    size_t end = in.find_first_not_of("0123456789,", at + 1);
    return end != std::string_view::npos && in[end] == '}' ? end + 1 - at : 1;
  }

  void openClass() {
    depth = 1;
    copy(1);
    if (next("^")) {
      copy(1);
    }
    if (next("]")) { // a literal in first place
      out += "\\]";
      ++at;
    }
  }

  void inClass() {
    if (next("&&")) {
      error = "it intersects character classes (&&)";
    } else if (next("[:")) {
      size_t end = in.find(":]", at);
      copy(end == std::string_view::npos ? 1 : end + 2 - at);
    } else if (next("[^")) {
      error = "it has a negated class within a class";
    } else if (next("[")) { // union: the inner brackets fall away
      ++depth;
      ++at;
    } else if (next("]")) {
      if (--depth == 0) {
        out += ']';
      }
      ++at;
    } else {
      copy(1);
    }
  }

  void set(std::string_view members, bool negated) {
    at += 2;
    if (depth == 0) {
      strAppend(out, negated ? "[^" : "[", members, "]");
    } else if (!negated) {
      out += members;
    } else {
      // Within a class \S and \W have no flat spelling; PCRE2's own differ
      // only in U+180E and a few symbols.
      out += members == SpaceSet ? "\\S" : "\\W";
    }
  }

  void escape() {
    if (at + 1 == in.size()) {
      error = "it ends in a backslash";
      return;
    }
    switch (in[at + 1]) {
    case 's':
      return set(SpaceSet, false);
    case 'S':
      return set(SpaceSet, true);
    case 'w':
      return set(WordSet, false);
    case 'W':
      return set(WordSet, true);
    case 'u':
      if (at + 6 > in.size()) {
        error = "\\u needs four digits";
        return;
      }
      strAppend(out, "\\x{", in.substr(at + 2, 4), "}");
      at += 6;
      return;
    case 'p':
    case 'P': {
      size_t end = in.find('}', at);
      return copy(next("\\p{") || next("\\P{")
                      ? (end == std::string_view::npos ? 2 : end + 1 - at)
                      : 2);
    }
    case 'x': {
      size_t end = in.find('}', at);
      return copy(next("\\x{") && end != std::string_view::npos ? end + 1 - at
                                                                : 2);
    }
    case 'h':
    case 'H':
    case 'X':
    case 'R':
    case 'K':
    case 'G':
    case 'g':
    case 'k':
      error = strCat("it uses ", in.substr(at, 2));
      return;
    default:
      return copy(2);
    }
  }
};

} // namespace

absl::StatusOr<std::string> translateRegex(std::string_view pattern) {
  return Translator(pattern).run();
}

} // namespace quire
