// Unicode normalisation forms, lower case and accents over utf8proc's tables.
// utf8proc's own whole-string calls sort combining marks in quadratic time;
// these take O(n log n) on any input. Pure functions on valid UTF-8.

#ifndef QUIRE_RUNTIME_TEXT_UNICODEFORMS_H
#define QUIRE_RUNTIME_TEXT_UNICODEFORMS_H

#include <string>
#include <string_view>

namespace quire {

enum class UnicodeForm { Nfc, Nfd, Nfkc, Nfkd };

std::string normalizeUnicode(std::string_view text, UnicodeForm form);
/// Character by character (a final sigma is not special).
std::string lowercaseUnicode(std::string_view text);
/// Drops every character of the Mark categories.
std::string stripMarks(std::string_view text);

} // namespace quire

#endif
