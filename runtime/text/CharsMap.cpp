#include "runtime/text/CharsMap.h"
#include "runtime/text/Utf8.h"

#include "utf8proc.h"

#include <cstring>

namespace quire {

absl::StatusOr<CharsMap> CharsMap::parse(std::string_view blob) {
  uint32_t trieBytes = 0;
  if (blob.size() >= 4) {
    std::memcpy(&trieBytes, blob.data(), 4);
  }
  if (blob.size() < 8 || trieBytes % 4 != 0 || trieBytes == 0 ||
      trieBytes > blob.size() - 4 || blob.back() != '\0') {
    return absl::InvalidArgumentError(
        "the tokenizer's precompiled character map is damaged; fetch the "
        "tokenizer file again");
  }
  CharsMap map;
  map.units.resize(trieBytes / 4);
  std::memcpy(map.units.data(), blob.data() + 4, trieBytes);
  map.pool = blob.substr(4 + trieBytes);
  return map;
}

// A unit of the double array: bits 0..7 the label, bit 8 "has a leaf", bit 9
// scales the offset in bits 10..30 by 256, bit 31 marks a leaf's value.
static uint32_t unitOffset(uint32_t unit) {
  return (unit >> 10) << ((unit & (1u << 9)) >> 6);
}

std::optional<CharsMap::Match> CharsMap::find(std::string_view text,
                                              bool longest) const {
  std::optional<Match> best;
  size_t node = unitOffset(units[0]);
  for (size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    if (node >= units.size() || (units[node] & 0x800000FFu) != byte) {
      break;
    }
    uint32_t unit = units[node];
    node ^= unitOffset(unit);
    if (node >= units.size()) {
      break;
    }
    if (unit & (1u << 8)) {
      size_t start = units[node] & 0x7FFFFFFFu;
      if (start < pool.size()) {
        best = Match{i + 1, std::string_view(pool.c_str() + start)};
        if (!longest) {
          break;
        }
      }
    }
  }
  return best;
}

void CharsMap::appendPart(std::string &out, std::string_view part) const {
  std::optional<Match> match = find(part, /*longest=*/false);
  out += match ? match->replacement : part;
}

std::string CharsMap::apply(std::string_view text, bool graphemes) const {
  std::string out;
  out.reserve(text.size());
  if (!graphemes) {
    while (!text.empty()) {
      size_t length = utf8Length(text[0]);
      if (std::optional<Match> match = find(text, /*longest=*/true)) {
        out += match->replacement;
        length = match->length;
      } else {
        out += text.substr(0, length);
      }
      text.remove_prefix(length);
    }
    return out;
  }
  while (!text.empty()) {
    Utf8Step step = nextUtf8(text);
    size_t length = step.length;
    utf8proc_int32_t state = 0;
    for (char32_t last = step.point; length < text.size();) {
      Utf8Step next = nextUtf8(text.substr(length));
      if (utf8proc_grapheme_break_stateful(
              static_cast<utf8proc_int32_t>(last),
              static_cast<utf8proc_int32_t>(next.point), &state)) {
        break;
      }
      last = next.point;
      length += next.length;
    }
    std::string_view grapheme = text.substr(0, length);
    text.remove_prefix(length);
    if (grapheme.size() < 6 && find(grapheme, /*longest=*/false)) {
      appendPart(out, grapheme);
      continue;
    }
    while (!grapheme.empty()) {
      size_t size = utf8Length(grapheme[0]);
      appendPart(out, grapheme.substr(0, size));
      grapheme.remove_prefix(size);
    }
  }
  return out;
}

} // namespace quire
