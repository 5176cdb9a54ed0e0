#include "runtime/text/Utf8.h"

#include "utf8proc.h"

namespace quire {

Utf8Step nextUtf8(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(0);
  if (first < 0x80) {
    return {1, true, false, first};
  }
  if (first < 0xC2 || first > 0xF4) {
    return {1, false, false, 0};
  }
  size_t length = utf8Length(text[0]);
  // The second byte's range excludes overlong forms, surrogates and values
  // above U+10FFFF (Unicode table 3-7).
  unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  char32_t point = first & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if (i == text.size()) {
      return {i, false, true, 0};
    }
    if (byte(i) < low || byte(i) > high) {
      return {i, false, false, 0};
    }
    point = point << 6 | (byte(i) & 0x3F);
    low = 0x80;
    high = 0xBF;
  }
  return {length, true, false, point};
}

void appendUtf8(std::string &out, char32_t point) {
  auto tail = [&](int shift) {
    out += static_cast<char>(0x80 | (point >> shift & 0x3F));
  };
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xC0 | point >> 6);
    tail(0);
  } else if (point < 0x10000) {
    out += static_cast<char>(0xE0 | point >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | point >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

void appendLossyUtf8(std::string &out, std::string_view text) {
  while (!text.empty()) {
    Utf8Step step = nextUtf8(text);
    if (step.valid) {
      out += text.substr(0, step.length);
    } else {
      out += "\xEF\xBF\xBD";
    }
    text.remove_prefix(step.length);
  }
}

bool isWhiteSpace(char32_t point) {
  if (point < 0x80) {
    return point == ' ' || (point >= 0x9 && point <= 0xD);
  }
  if (point == 0x85) {
    return true;
  }
  auto category = utf8proc_category(static_cast<utf8proc_int32_t>(point));
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

bool isWordCharacter(char32_t point) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(point))) {
  case UTF8PROC_CATEGORY_LU:
  case UTF8PROC_CATEGORY_LL:
  case UTF8PROC_CATEGORY_LT:
  case UTF8PROC_CATEGORY_LM:
  case UTF8PROC_CATEGORY_LO:
  case UTF8PROC_CATEGORY_MN:
  case UTF8PROC_CATEGORY_MC:
  case UTF8PROC_CATEGORY_ME:
  case UTF8PROC_CATEGORY_ND:
  case UTF8PROC_CATEGORY_NL:
  case UTF8PROC_CATEGORY_PC:
    return true;
  default:
    return point == 0x200C || point == 0x200D ||
           (point >= 0x24B6 && point <= 0x24E9);
  }
}

} // namespace quire
