#include "runtime/text/jinja/Unicode.h"

#include <utf8proc.h>

namespace quire::jinja {

char32_t decodeNext(std::string_view text, size_t &position) {
  unsigned char lead = static_cast<unsigned char>(text[position]);
  if (lead < 0x80) {
    ++position;
    return lead;
  }
  utf8proc_int32_t point = -1;
  utf8proc_ssize_t length = utf8proc_iterate(
      reinterpret_cast<const utf8proc_uint8_t *>(text.data()) + position,
      static_cast<utf8proc_ssize_t>(text.size() - position), &point);
  if (length <= 0) {
    ++position;
    return 0xDC00 + lead;
  }
  position += static_cast<size_t>(length);
  return static_cast<char32_t>(point);
}

void appendUtf8(std::string &out, char32_t point) {
  if (point >= 0xDC80 && point <= 0xDCFF) {
    out.push_back(static_cast<char>(point - 0xDC00));
    return;
  }
  utf8proc_uint8_t buffer[4];
  utf8proc_ssize_t length =
      utf8proc_encode_char(static_cast<utf8proc_int32_t>(point), buffer);
  out.append(reinterpret_cast<const char *>(buffer),
             static_cast<size_t>(length));
}

size_t countPoints(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++count) {
    decodeNext(text, i);
  }
  return count;
}

size_t offsetOfPoint(std::string_view text, size_t index) {
  size_t offset = 0;
  while (index > 0 && offset < text.size()) {
    decodeNext(text, offset);
    --index;
  }
  return offset;
}

bool isSpace(char32_t c) {
  return (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20) || c == 0x85 ||
         c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
         c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

static utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool isPrintable(char32_t c) {
  if (c == ' ') {
    return true;
  }
  switch (category(c)) {
  case UTF8PROC_CATEGORY_CN:
  case UTF8PROC_CATEGORY_CC:
  case UTF8PROC_CATEGORY_CF:
  case UTF8PROC_CATEGORY_CS:
  case UTF8PROC_CATEGORY_CO:
  case UTF8PROC_CATEGORY_ZS:
  case UTF8PROC_CATEGORY_ZL:
  case UTF8PROC_CATEGORY_ZP:
    return false;
  default:
    return true;
  }
}

bool isAlpha(char32_t c) {
  switch (category(c)) {
  case UTF8PROC_CATEGORY_LU:
  case UTF8PROC_CATEGORY_LL:
  case UTF8PROC_CATEGORY_LT:
  case UTF8PROC_CATEGORY_LM:
  case UTF8PROC_CATEGORY_LO:
    return true;
  default:
    return false;
  }
}

bool isDigit(char32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }

bool isUpper(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LU; }

bool isLower(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LL; }

void appendUpper(std::string &out, char32_t c) {
  // The one common letter whose capital is two letters.
  if (c == 0xdf) {
    out += "SS";
    return;
  }
  appendUtf8(out, static_cast<char32_t>(
                      utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
}

void appendLower(std::string &out, char32_t c) {
  appendUtf8(out, static_cast<char32_t>(
                      utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
}

Span trimmed(std::string_view text, bool left, bool right) {
  size_t begin = 0;
  while (left && begin < text.size()) {
    size_t next = begin;
    if (!isSpace(decodeNext(text, next))) {
      break;
    }
    begin = next;
  }
  size_t end = text.size();
  while (right && end > begin) {
    size_t start = end - 1;
    while (start > begin && (text[start] & 0xC0) == 0x80) {
      --start;
    }
    size_t next = start;
    if (!isSpace(decodeNext(text, next)) || next != end) {
      break;
    }
    end = start;
  }
  return {begin, end};
}

} // namespace quire::jinja
