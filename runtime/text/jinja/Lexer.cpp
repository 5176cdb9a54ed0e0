#include "runtime/text/jinja/Lexer.h"
#include "runtime/text/jinja/Unicode.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace quire::jinja {

namespace {

/// \r\n and \r become \n; one newline at the very end is dropped.
std::string normalizeNewlines(std::string_view source) {
  std::string result;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      result.push_back('\n');
      if (i + 1 < source.size() && source[i + 1] == '\n') {
        ++i;
      }
    } else {
      result.push_back(source[i]);
    }
  }
  if (!result.empty() && result.back() == '\n') {
    result.pop_back();
  }
  return result;
}

bool isNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (c >= '0' && c <= '9') || (c & 0x80);
}

bool isDecimal(char c) { return c >= '0' && c <= '9'; }

class Lexer {
public:
  explicit Lexer(std::string source) : source(std::move(source)) {}

  absl::StatusOr<std::vector<Token>> run() {
    while (error.empty() && position < source.size()) {
      lexText();
    }
    if (!error.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", line, ": ", error));
    }
    emit(TokenKind::End, "");
    return std::move(tokens);
  }

private:
  /// Data up to the next tag, and that tag.
  void lexText() {
    size_t tag = position;
    while (true) {
      tag = source.find('{', tag);
      if (tag == std::string::npos || tag + 1 >= source.size()) {
        emitData(source.substr(position));
        position = source.size();
        return;
      }
      char kind = source[tag + 1];
      if (kind == '{' || kind == '%' || kind == '#') {
        break;
      }
      ++tag;
    }
    char kind = source[tag + 1];
    std::string data = source.substr(position, tag - position);
    size_t after = tag + 2;
    // Only `-` and `+` right behind the delimiter are signs.
    char sign = after < source.size() ? source[after] : '\0';
    bool signedTag = sign == '-' || sign == '+';
    if (signedTag) {
      ++after;
    }
    emitData(stripBefore(std::move(data), signedTag ? sign : '\0', kind));
    advance(after);
    if (kind == '#') {
      lexComment();
    } else if (kind == '{') {
      emit(TokenKind::VariableBegin, "{{");
      lexExpression("}}", TokenKind::VariableEnd);
    } else if (size_t body = rawBegin(after)) {
      lexRaw(body);
    } else {
      emit(TokenKind::BlockBegin, "{%");
      lexExpression("%}", TokenKind::BlockEnd);
    }
  }

  /// What remains of the text before a tag.
  std::string stripBefore(std::string data, char sign, char kind) {
    if (sign == '-') {
      data.resize(trimmed(data, false, true).end);
    } else if (sign != '+' && kind != '{') {
      size_t start = data.rfind('\n');
      start = start == std::string::npos ? 0 : start + 1;
      Span blank = trimmed(std::string_view(data).substr(start));
      if ((start > 0 || lineStarting) && blank.begin == blank.end) {
        data.resize(start);
      }
    }
    return data;
  }

  void lexComment() {
    size_t end = source.find("#}", position);
    if (end == std::string::npos) {
      fail("Missing end of comment tag");
      return;
    }
    char sign = end > position ? source[end - 1] : '\0';
    advance(end + 2);
    finishTag(sign, true);
  }

  /// White space behind a closed tag.
  void finishTag(char sign, bool trimNewline) {
    size_t end = position;
    if (sign == '-') {
      end +=
          trimmed(std::string_view(source).substr(position), true, false).begin;
    } else if (sign != '+' && trimNewline && end < source.size() &&
               source[end] == '\n') {
      ++end;
    }
    advance(end);
    lineStarting = position > 0 && source[position - 1] == '\n';
  }

  size_t skipSpace(size_t at) const {
    return at + trimmed(std::string_view(source).substr(at), true, false).begin;
  }

  /// The first byte inside a `{% raw %}` whose tag opened at `at`, else 0.
  size_t rawBegin(size_t at) const {
    at = skipSpace(at);
    if (source.compare(at, 3, "raw") != 0) {
      return 0;
    }
    at = skipSpace(at + 3);
    if (source.compare(at, 3, "-%}") == 0) {
      return skipSpace(at + 3);
    }
    return source.compare(at, 2, "%}") == 0 ? at + 2 : 0;
  }

  void lexRaw(size_t body) {
    advance(body);
    for (size_t tag = source.find("{%", body); tag != std::string::npos;
         tag = source.find("{%", tag + 2)) {
      size_t at = tag + 2;
      char sign = at < source.size() ? source[at] : '\0';
      bool signedTag = sign == '-' || sign == '+';
      at = skipSpace(at + (signedTag ? 1 : 0));
      if (source.compare(at, 6, "endraw") != 0) {
        continue;
      }
      at = skipSpace(at + 6);
      char closing = source[at];
      bool closingSign = closing == '-' || closing == '+';
      at += closingSign ? 1 : 0;
      if (source.compare(at, 2, "%}") != 0) {
        continue;
      }
      lineStarting = false;
      emitData(stripBefore(source.substr(body, tag - body),
                           signedTag ? sign : '\0', '%'));
      advance(at + 2);
      finishTag(closingSign ? closing : '\0', true);
      return;
    }
    fail("Missing end of raw directive");
  }

  void lexExpression(std::string_view closing, TokenKind closingKind) {
    std::string open;
    while (error.empty()) {
      advance(skipSpace(position));
      if (position >= source.size()) {
        fail("unexpected end of template inside a tag");
        return;
      }
      if (open.empty() && closeTag(closing, closingKind)) {
        return;
      }
      lexToken(open);
    }
  }

  bool closeTag(std::string_view closing, TokenKind closingKind) {
    char sign = source[position];
    bool isBlock = closingKind == TokenKind::BlockEnd;
    bool signedTag = sign == '-' || (sign == '+' && isBlock);
    size_t at = position + (signedTag ? 1 : 0);
    if (source.compare(at, 2, closing) != 0) {
      return false;
    }
    emit(closingKind, std::string(closing));
    advance(at + 2);
    finishTag(signedTag ? sign : '\0', isBlock);
    return true;
  }

  void lexToken(std::string &open) {
    char c = source[position];
    if (isDecimal(c)) {
      lexNumber();
    } else if (c == '\'' || c == '"') {
      lexString(c);
    } else if (isNameByte(c)) {
      size_t end = position;
      while (end < source.size() && isNameByte(source[end])) {
        ++end;
      }
      emit(TokenKind::Name, source.substr(position, end - position));
      advance(end);
    } else {
      lexOperator(open);
    }
  }

  void lexOperator(std::string &open) {
    static constexpr std::array<std::string_view, 6> twoBytes = {
        "//", "**", "==", "!=", ">=", "<="};
    std::string_view rest = std::string_view(source).substr(position);
    for (std::string_view candidate : twoBytes) {
      if (rest.substr(0, 2) == candidate) {
        emit(TokenKind::Operator, std::string(candidate));
        advance(position + 2);
        return;
      }
    }
    char c = source[position];
    if (std::string_view("+-/*%~[](){}<>=.:|,;").find(c) ==
        std::string_view::npos) {
      fail(absl::StrCat("unexpected char '", std::string(1, c), "'"));
      return;
    }
    if (c == '(' || c == '[' || c == '{') {
      open.push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
    } else if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || open.back() != c) {
        fail(absl::StrCat("unexpected '", std::string(1, c), "'"));
        return;
      }
      open.pop_back();
    }
    emit(TokenKind::Operator, std::string(1, c));
    advance(position + 1);
  }

  size_t skipDigits(size_t at) const {
    while (at < source.size() &&
           (isDecimal(source[at]) ||
            (source[at] == '_' && at + 1 < source.size() &&
             isDecimal(source[at + 1])))) {
      ++at;
    }
    return at;
  }

  void lexNumber() {
    size_t end = skipDigits(position);
    bool isFloat = false;
    auto byte = [&](size_t at) {
      return at < source.size() ? source[at] : '\0';
    };
    bool afterDot = position > 0 && source[position - 1] == '.';
    if (!afterDot && byte(end) == '.' && isDecimal(byte(end + 1))) {
      isFloat = true;
      end = skipDigits(end + 1);
    }
    if (!afterDot && (byte(end) == 'e' || byte(end) == 'E')) {
      size_t digits = end + 1;
      if (byte(digits) == '+' || byte(digits) == '-') {
        ++digits;
      }
      if (isDecimal(byte(digits))) {
        isFloat = true;
        end = skipDigits(digits);
      }
    }
    std::string number = source.substr(position, end - position);
    std::erase(number, '_');
    if (!isFloat && (isNameByte(byte(end)) ||
                     (number.size() > 1 && number[0] == '0' &&
                      number.find_first_not_of('0') != std::string::npos))) {
      fail("only decimal numbers without leading zeros are supported");
      return;
    }
    emit(isFloat ? TokenKind::Float : TokenKind::Integer, std::move(number));
    advance(end);
  }

  void lexString(char quote) {
    std::string value;
    size_t at = position + 1;
    while (at < source.size() && source[at] != quote) {
      if (source[at] == '\\') {
        if (!lexEscape(at, value)) {
          fail("an unfinished or unknown escape in a string");
          return;
        }
      } else {
        value.push_back(source[at++]);
      }
    }
    if (at >= source.size()) {
      fail("a string that is never closed");
      return;
    }
    emit(TokenKind::String, std::move(value));
    advance(at + 1);
  }

  /// One backslash escape as Python reads it. An unknown one stands for
  /// itself, backslash included.
  bool lexEscape(size_t &at, std::string &value) {
    if (at + 1 >= source.size()) {
      return false;
    }
    char c = source[at + 1];
    at += 2;
    static constexpr std::string_view names = "\\'\"abfnrtv\n";
    static constexpr std::string_view values = "\\'\"\a\b\f\n\r\t\v";
    if (c == '\n') {
      return true;
    }
    if (size_t n = names.find(c); n != std::string_view::npos) {
      value.push_back(values[n]);
      return true;
    }
    if (c >= '0' && c <= '7') {
      char32_t point = 0;
      --at;
      for (int i = 0; i < 3 && at < source.size() && source[at] >= '0' &&
                      source[at] <= '7';
           ++i) {
        point = point * 8 + static_cast<char32_t>(source[at++] - '0');
      }
      appendUtf8(value, point);
      return true;
    }
    int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits > 0) {
      return lexHex(at, digits, value);
    }
    if (c == 'N') {
      return false;
    }
    value.push_back('\\');
    value.push_back(c);
    return true;
  }

  bool lexHex(size_t &at, int digits, std::string &value) {
    char32_t point = 0;
    for (int i = 0; i < digits; ++i, ++at) {
      if (at >= source.size() ||
          !std::isxdigit(static_cast<unsigned char>(source[at]))) {
        return false;
      }
      char c = source[at];
      point = point * 16 + static_cast<char32_t>(
                               isDecimal(c) ? c - '0' : (c | 32) - 'a' + 10);
    }
    if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) {
      return false;
    }
    appendUtf8(value, point);
    return true;
  }

  void emit(TokenKind kind, std::string text) {
    tokens.push_back({kind, std::move(text), line});
  }

  void emitData(std::string data) {
    if (!data.empty()) {
      emit(TokenKind::Data, std::move(data));
    }
  }

  void advance(size_t to) {
    line += static_cast<int>(
        std::count(source.begin() + static_cast<ptrdiff_t>(position),
                   source.begin() + static_cast<ptrdiff_t>(to), '\n'));
    position = to;
  }

  void fail(std::string message) { error = std::move(message); }

  std::string source;
  size_t position = 0;
  int line = 1;
  bool lineStarting = true;
  std::string error;
  std::vector<Token> tokens;
};

} // namespace

absl::StatusOr<std::vector<Token>> tokenize(std::string_view source) {
  return Lexer(normalizeNewlines(source)).run();
}

} // namespace quire::jinja
