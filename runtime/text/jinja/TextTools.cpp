#include "runtime/text/jinja/TextTools.h"
#include "runtime/text/jinja/Unicode.h"

namespace quire::jinja {

static bool holds(std::string_view set, char32_t point) {
  for (size_t i = 0; i < set.size();) {
    if (decodeNext(set, i) == point) {
      return true;
    }
  }
  return false;
}

Text strip(const Text &text, const Text *set, bool left, bool right) {
  std::string_view view = text.str();
  if (!set) {
    Span span = trimmed(view, left, right);
    return text.slice(span.begin, span.end);
  }
  size_t begin = 0;
  while (left && begin < view.size()) {
    size_t next = begin;
    if (!holds(set->str(), decodeNext(view, next))) {
      break;
    }
    begin = next;
  }
  size_t end = view.size();
  while (right && end > begin) {
    size_t start = end - 1;
    while (start > begin && (view[start] & 0xC0) == 0x80) {
      --start;
    }
    size_t next = start;
    if (!holds(set->str(), decodeNext(view, next))) {
      break;
    }
    end = start;
  }
  return text.slice(begin, end);
}

Text replaceAll(Context &context, const Text &text, const Text &from,
                const Text &to, int64_t most) {
  Text result;
  size_t place = 0;
  if (from.empty()) {
    // Python puts the replacement before each character and at the end.
    while (most != 0 && context.work(to.size() + 8)) {
      result.append(to);
      --most;
      if (place >= text.size()) {
        return result;
      }
      size_t next = place;
      decodeNext(text.str(), next);
      result.append(text, place, next);
      place = next;
    }
    result.append(text, place, text.size());
    return result;
  }
  while (most != 0) {
    size_t found = text.str().find(from.str(), place);
    if (found == std::string::npos || !context.work(to.size() + 8)) {
      break;
    }
    result.append(text, place, found);
    result.append(to);
    place = found + from.size();
    --most;
  }
  result.append(text, place, text.size());
  return result;
}

template <typename Map> static Text mapPoints(const Text &text, Map map) {
  Text result;
  for (size_t i = 0; i < text.size();) {
    bool fromData = text.fromDataAt(i);
    std::string piece;
    map(piece, decodeNext(text.str(), i));
    result.append(piece, fromData);
  }
  return result;
}

Text upperCase(const Text &text) { return mapPoints(text, appendUpper); }

Text lowerCase(const Text &text) { return mapPoints(text, appendLower); }

Text capitalize(const Text &text) {
  bool first = true;
  return mapPoints(text, [&](std::string &out, char32_t c) {
    first ? appendUpper(out, c) : appendLower(out, c);
    first = false;
  });
}

static bool endsLine(char32_t c) {
  return (c >= 10 && c <= 13) || (c >= 0x1c && c <= 0x1e) || c == 0x85 ||
         c == 0x2028 || c == 0x2029;
}

std::vector<Text> splitLines(const Text &text) {
  std::vector<Text> lines;
  size_t start = 0;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    char32_t c = decodeNext(text.str(), i);
    if (!endsLine(c)) {
      continue;
    }
    if (c == '\r' && i < text.size() && text.str()[i] == '\n') {
      ++i;
    }
    lines.push_back(text.slice(start, end));
    start = i;
  }
  if (start < text.size()) {
    lines.push_back(text.slice(start, text.size()));
  }
  return lines;
}

Text spaces(int64_t count) {
  return Text(std::string(count > 0 ? static_cast<size_t>(count) : 0, ' '));
}

} // namespace quire::jinja
