#include "frontends/formats/Utf8.h"

#include "frontends/formats/StrCat.h"

#include <cstddef>
#include <cstdint>

namespace quire {

/// Length of the valid character at the start of non-empty `text`, else 0.
/// Overlong forms, surrogates and values above U+10FFFF are invalid.
static size_t characterLength(std::string_view text) {
  uint8_t lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) {
    return 1;
  }
  size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<uint8_t>(text[i]) & 0xC0) != 0x80) {
      return 0;
    }
  }
  uint8_t second = static_cast<uint8_t>(text[1]);
  bool overlong =
      (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  bool surrogate = lead == 0xED && second >= 0xA0;
  bool tooLarge = lead == 0xF4 && second >= 0x90;
  return overlong || surrogate || tooLarge ? 0 : length;
}

bool isValidUtf8(std::string_view text) {
  while (!text.empty()) {
    size_t length = characterLength(text);
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

std::string toValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    size_t length = characterLength(text);
    valid.append(length ? text.substr(0, length) : "\uFFFD");
    text.remove_prefix(length ? length : 1);
  }
  return valid;
}

/// Shows whole characters until `maxBytes` are there.
static std::string show(std::string_view text, size_t maxBytes) {
  std::string shown;
  while (!text.empty() && shown.size() < maxBytes) {
    uint8_t lead = static_cast<uint8_t>(text[0]);
    size_t length = characterLength(text);
    if (length == 0 || lead < 0x20 || lead == 0x7F) {
      strAppend(shown, "\\x", absl::Hex(lead, absl::kZeroPad2));
      length = 1;
    } else {
      shown.append(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  return text.empty() ? shown : shown + "...";
}

std::string printable(std::string_view text) { return show(text, 80); }

std::string oneLine(std::string_view text) {
  return show(text, std::string_view::npos);
}

} // namespace quire
