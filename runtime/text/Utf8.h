// UTF-8 as the tokenizer sees it: one character at a time, and what to do with
// bytes that are none. Invalid bytes become U+FFFD by the "maximal subpart"
// rule of the Unicode standard (3.9, also WHATWG's), everywhere alike, so that
// streaming and whole decoding cannot differ. Pure functions; any thread.

#ifndef QUIRE_RUNTIME_TEXT_UTF8_H
#define QUIRE_RUNTIME_TEXT_UTF8_H

#include <cstddef>
#include <string>
#include <string_view>

namespace quire {

/// What the bytes at the start of some text are.
struct Utf8Step {
  size_t length;   // bytes consumed: the character, or the invalid subpart
  bool valid;      // a whole character
  bool incomplete; // a prefix of a character that the text's end cut
  char32_t point;  // when valid
};

/// `text` must not be empty.
Utf8Step nextUtf8(std::string_view text);

/// Length of the character that starts with this byte of valid UTF-8.
inline size_t utf8Length(char first) {
  auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

void appendUtf8(std::string &out, char32_t point);
/// Appends text, each invalid subpart as one U+FFFD.
void appendLossyUtf8(std::string &out, std::string_view text);

/// The White_Space property.
bool isWhiteSpace(char32_t point);
/// Letters, marks, digits and connectors, as single-word tokens see words.
bool isWordCharacter(char32_t point);

} // namespace quire

#endif
