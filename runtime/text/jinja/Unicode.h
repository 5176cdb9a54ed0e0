// The little of Unicode that templates see: code points in UTF-8, Python's
// notion of white space, printability and letter case.

#ifndef QUIRE_RUNTIME_TEXT_JINJA_UNICODE_H
#define QUIRE_RUNTIME_TEXT_JINJA_UNICODE_H

#include <cstddef>
#include <string>
#include <string_view>

namespace quire::jinja {

/// Reads the code point at `position` and moves past it. A byte that begins no
/// valid sequence stands for itself (as a code point 0xDC80 + low bits, which
/// no valid text contains), so that hostile input is never lost or misread.
char32_t decodeNext(std::string_view text, size_t &position);

void appendUtf8(std::string &out, char32_t point);

/// The number of code points.
size_t countPoints(std::string_view text);
/// The byte offset of code point number `index`; text.size() past the end.
size_t offsetOfPoint(std::string_view text, size_t index);

bool isSpace(char32_t point);
bool isPrintable(char32_t point);
bool isAlpha(char32_t point);
bool isDigit(char32_t point);
bool isUpper(char32_t point);
bool isLower(char32_t point);
void appendUpper(std::string &out, char32_t point);
void appendLower(std::string &out, char32_t point);

/// The span of `text` without leading and trailing white space.
struct Span {
  size_t begin;
  size_t end;
};
Span trimmed(std::string_view text, bool left = true, bool right = true);

} // namespace quire::jinja

#endif
