// The methods of str.

#include "runtime/text/jinja/Builtins.h"
#include "runtime/text/jinja/Print.h"
#include "runtime/text/jinja/TextTools.h"
#include "runtime/text/jinja/Unicode.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace quire::jinja {

namespace {

using Args = const Arguments &;

template <bool left, bool right>
Value stripMethod(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"chars"});
  if (!p.ok() || p[0].isNone()) {
    return context.text(strip(self.text(), nullptr, left, right));
  }
  Text set = p.text(0, "");
  context.work(self.text().size() + set.size());
  return context.text(strip(self.text(), &set, left, right));
}

template <Text (*function)(const Text &)>
Value mapped(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {});
  context.work(self.text().size() * 4);
  return p.ok() ? context.text(function(self.text())) : Value();
}

/// str.title: a letter after a non-letter is large.
Text titleCase(const Text &text) {
  Text result;
  bool inside = false;
  for (size_t i = 0; i < text.size();) {
    bool fromData = text.fromDataAt(i);
    char32_t c = decodeNext(text.str(), i);
    std::string piece;
    inside ? appendLower(piece, c) : appendUpper(piece, c);
    inside = isAlpha(c);
    result.append(piece, fromData);
  }
  return result;
}

Text swapCase(const Text &text) {
  Text result;
  for (size_t i = 0; i < text.size();) {
    bool fromData = text.fromDataAt(i);
    char32_t c = decodeNext(text.str(), i);
    std::string piece;
    isUpper(c) ? appendLower(piece, c) : appendUpper(piece, c);
    result.append(piece, fromData);
  }
  return result;
}

Value pieces(Context &context, std::vector<Text> parts) {
  std::vector<Value> items;
  for (Text &part : parts) {
    items.push_back(context.text(std::move(part)));
  }
  return context.list(std::move(items));
}

std::vector<Text> splitSpace(const Text &text, int64_t most) {
  std::vector<Text> parts;
  std::string_view view = text.str();
  size_t at = trimmed(view, true, false).begin;
  while (at < view.size()) {
    if (most-- == 0) {
      parts.push_back(text.slice(at, trimmed(view, false, true).end));
      break;
    }
    size_t end = at;
    while (end < view.size()) {
      size_t next = end;
      if (isSpace(decodeNext(view, next))) {
        break;
      }
      end = next;
    }
    parts.push_back(text.slice(at, end));
    at = end + trimmed(view.substr(end), true, false).begin;
  }
  return parts;
}

std::vector<Text> splitSpaceRight(const Text &text, int64_t most) {
  std::vector<Text> words = splitSpace(text, -1);
  if (most < 0 || static_cast<int64_t>(words.size()) <= most) {
    return words;
  }
  // All but the last `most` words stay together, as they stand.
  size_t joined = words.size() - static_cast<size_t>(most);
  std::string_view view = text.str();
  size_t end = view.size();
  for (int64_t i = 0; i < most; ++i) {
    end = trimmed(view.substr(0, end), false, true).end;
    end -= words[words.size() - 1 - static_cast<size_t>(i)].size();
  }
  end = trimmed(view.substr(0, end), false, true).end;
  std::vector<Text> parts;
  parts.push_back(text.slice(trimmed(view, true, false).begin, end));
  parts.insert(parts.end(), words.begin() + static_cast<ptrdiff_t>(joined),
               words.end());
  return parts;
}

std::vector<Text> splitAt(const Text &text, const Text &separator,
                          int64_t most) {
  std::vector<Text> parts;
  size_t place = 0;
  for (size_t found;
       most != 0 &&
       (found = text.str().find(separator.str(), place)) != std::string::npos;
       --most) {
    parts.push_back(text.slice(place, found));
    place = found + separator.size();
  }
  parts.push_back(text.slice(place, text.size()));
  return parts;
}

std::vector<Text> splitAtRight(const Text &text, const Text &separator,
                               int64_t most) {
  std::vector<Text> parts;
  size_t end = text.size();
  std::string_view view = text.str();
  for (; most != 0; --most) {
    size_t found = view.substr(0, end).rfind(separator.str());
    if (found == std::string::npos) {
      break;
    }
    parts.push_back(text.slice(found + separator.size(), end));
    end = found;
  }
  parts.push_back(text.slice(0, end));
  std::reverse(parts.begin(), parts.end());
  return parts;
}

/// From one end: between words without a separator, else at the separator.
using SplitWords = std::vector<Text> (*)(const Text &, int64_t most);
using SplitSeparated = std::vector<Text> (*)(const Text &,
                                             const Text &separator,
                                             int64_t most);

template <SplitWords words, SplitSeparated separated>
Value split(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"sep", "maxsplit"});
  int64_t most = p.integer(1, -1);
  const Text &text = self.text();
  if (!p.ok() || !context.work(text.size())) {
    return Value();
  }
  if (p[0].isNone()) {
    return pieces(context, words(text, most));
  }
  Text separator = p.text(0, "");
  if (separator.empty()) {
    return context.fail("empty separator");
  }
  return pieces(context, separated(text, separator, most));
}

Value splitLinesMethod(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {});
  context.work(self.text().size());
  return p.ok() ? pieces(context, splitLines(self.text())) : Value();
}

template <bool atStart>
Value affix(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"affix"});
  std::string_view view = self.string();
  std::vector<Value> candidates = {p[0]};
  if (p[0].isSequence(Sequence::Type::Tuple)) {
    candidates = p[0].sequence().items;
  }
  for (const Value &candidate : candidates) {
    if (!candidate.isString()) {
      return context.fail(
          absl::StrCat(atStart ? "startswith" : "endswith",
                       " first arg must be str or a tuple of str, not ",
                       candidate.typeName()));
    }
    if (atStart ? view.starts_with(candidate.string())
                : view.ends_with(candidate.string())) {
      return Value(true);
    }
  }
  return Value(false);
}

Value removePrefix(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"prefix"});
  Text prefix = p.text(0, "");
  bool present = self.string().starts_with(prefix.str());
  return present ? context.text(
                       self.text().slice(prefix.size(), self.text().size()))
                 : self;
}

Value removeSuffix(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"suffix"});
  Text suffix = p.text(0, "");
  bool present = self.string().ends_with(suffix.str());
  return present ? context.text(
                       self.text().slice(0, self.text().size() - suffix.size()))
                 : self;
}

Value replace(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"old", "new", "count"});
  Text from = p.text(0, "");
  Text to = p.text(1, "");
  int64_t most = p.integer(2, -1);
  if (!p.has(0) || !p.has(1)) {
    return context.fail("replace expected at least 2 arguments");
  }
  context.work(self.text().size());
  return context.text(replaceAll(context, self.text(), from, to, most));
}

Value join(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"iterable"});
  auto items = iterate(context, p[0]);
  Text result;
  for (size_t i = 0; items && i < items->size(); ++i) {
    const Value &item = (*items)[i];
    if (!item.isString()) {
      return context.fail(absl::StrCat("sequence item ", i,
                                       ": expected str instance, ",
                                       item.typeName(), " found"));
    }
    if (!context.work(self.text().size() + item.text().size())) {
      break;
    }
    if (i) {
      result.append(self.text());
    }
    result.append(item.text());
  }
  return context.text(std::move(result));
}

template <bool fromRight>
int64_t findPoint(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"sub", "start", "end"});
  Text wanted = p.text(0, "");
  const std::string &text = self.string();
  context.work(text.size() * 2);
  auto points = static_cast<int64_t>(countPoints(text));
  auto clip = [&](int64_t place) {
    return std::clamp<int64_t>(place < 0 ? place + points : place, 0, points);
  };
  int64_t first = p.integer(1, 0);
  if (first > points) {
    return -1;
  }
  size_t begin = offsetOfPoint(text, static_cast<size_t>(clip(first)));
  size_t end =
      offsetOfPoint(text, static_cast<size_t>(clip(p.integer(2, points))));
  if (end < begin) {
    return -1;
  }
  std::string_view range = std::string_view(text).substr(begin, end - begin);
  size_t found =
      fromRight ? range.rfind(wanted.str()) : range.find(wanted.str());
  return found == std::string_view::npos
             ? -1
             : static_cast<int64_t>(countPoints(
                   std::string_view(text).substr(0, begin + found)));
}

template <bool fromRight>
Value find(Context &context, const Value &self, Args args) {
  return Value(findPoint<fromRight>(context, self, args));
}

template <bool fromRight>
Value indexOf(Context &context, const Value &self, Args args) {
  int64_t place = findPoint<fromRight>(context, self, args);
  return place < 0 ? context.fail("substring not found") : Value(place);
}

Value count(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"sub"});
  Text wanted = p.text(0, "");
  const std::string &text = self.string();
  context.work(text.size());
  if (wanted.empty()) {
    return Value(static_cast<int64_t>(countPoints(text)) + 1);
  }
  int64_t found = 0;
  for (size_t at = text.find(wanted.str()); at != std::string::npos;
       at = text.find(wanted.str(), at + wanted.size())) {
    ++found;
  }
  return Value(found);
}

template <bool (*test)(char32_t)>
Value all(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {});
  context.work(self.text().size());
  for (size_t i = 0; i < self.text().size();) {
    if (!test(decodeNext(self.string(), i))) {
      return Value(false);
    }
  }
  return Value(!self.text().empty());
}

bool isAlphanumeric(char32_t c) { return isAlpha(c) || isDigit(c); }

template <bool (*inCase)(char32_t), bool (*inOther)(char32_t)>
Value cased(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {});
  context.work(self.text().size());
  bool any = false;
  for (size_t i = 0; i < self.text().size();) {
    char32_t c = decodeNext(self.string(), i);
    if (inOther(c)) {
      return Value(false);
    }
    any = any || inCase(c);
  }
  return Value(any);
}

enum class Side { Left, Right, Center };

template <Side side>
Value justify(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"width", "fillchar"});
  int64_t width = p.integer(0, 0);
  Text fill = p.text(1, " ");
  if (countPoints(fill.str()) != 1) {
    return context.fail("The fill character must be exactly one character "
                        "long");
  }
  context.work(self.text().size());
  int64_t missing = width - static_cast<int64_t>(countPoints(self.string()));
  if (missing <= 0 || !p.ok()) {
    return self;
  }
  if (!context.work(static_cast<size_t>(missing) * 4)) {
    return Value();
  }
  int64_t before = side == Side::Left    ? 0
                   : side == Side::Right ? missing
                                         : missing / 2 + (missing & width & 1);
  Text result;
  for (int64_t i = 0; i < missing; ++i) {
    if (i == before) {
      result.append(self.text());
    }
    result.append(fill);
  }
  if (before >= missing) {
    result.append(self.text());
  }
  return context.text(std::move(result));
}

Value zeroFill(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"width"});
  int64_t missing =
      p.integer(0, 0) - static_cast<int64_t>(countPoints(self.string()));
  if (missing <= 0 || !context.work(static_cast<size_t>(missing))) {
    return self;
  }
  const Text &text = self.text();
  bool hasSign =
      !text.empty() && (text.str()[0] == '-' || text.str()[0] == '+');
  Text result = text.slice(0, hasSign ? 1 : 0);
  result.append(std::string(static_cast<size_t>(missing), '0'));
  result.append(text, hasSign ? 1 : 0, text.size());
  return context.text(std::move(result));
}

template <bool fromRight>
Value partition(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"sep"});
  Text separator = p.text(0, "");
  if (separator.empty()) {
    return context.fail("empty separator");
  }
  const Text &text = self.text();
  context.work(text.size());
  size_t found = fromRight ? text.str().rfind(separator.str())
                           : text.str().find(separator.str());
  Value empty = Value::text("");
  if (found == std::string::npos) {
    return context.tuple(fromRight ? std::vector<Value>{empty, empty, self}
                                   : std::vector<Value>{self, empty, empty});
  }
  return context.tuple(
      {context.text(text.slice(0, found)), context.text(std::move(separator)),
       context.text(text.slice(found + p[0].text().size(), text.size()))});
}

Value format(Context &context, const Value &self, Args args) {
  return formatBraces(context, self.text(), args);
}

constexpr BuiltinEntry methods[] = {
    {"capitalize", mapped<capitalize>},
    {"casefold", mapped<lowerCase>},
    {"center", justify<Side::Center>},
    {"count", count},
    {"endswith", affix<false>},
    {"find", find<false>},
    {"format", format},
    {"index", indexOf<false>},
    {"isalnum", all<isAlphanumeric>},
    {"isalpha", all<isAlpha>},
    {"isdecimal", all<isDigit>},
    {"isdigit", all<isDigit>},
    {"islower", cased<isLower, isUpper>},
    {"isnumeric", all<isDigit>},
    {"isspace", all<isSpace>},
    {"isupper", cased<isUpper, isLower>},
    {"join", join},
    {"ljust", justify<Side::Left>},
    {"lower", mapped<lowerCase>},
    {"lstrip", stripMethod<true, false>},
    {"partition", partition<false>},
    {"removeprefix", removePrefix},
    {"removesuffix", removeSuffix},
    {"replace", replace},
    {"rfind", find<true>},
    {"rindex", indexOf<true>},
    {"rjust", justify<Side::Right>},
    {"rpartition", partition<true>},
    {"rsplit", split<splitSpaceRight, splitAtRight>},
    {"rstrip", stripMethod<false, true>},
    {"split", split<splitSpace, splitAt>},
    {"splitlines", splitLinesMethod},
    {"startswith", affix<true>},
    {"strip", stripMethod<true, true>},
    {"swapcase", mapped<swapCase>},
    {"title", mapped<titleCase>},
    {"upper", mapped<upperCase>},
    {"zfill", zeroFill},
};

} // namespace

Builtin findTextMethod(std::string_view name) {
  for (const BuiltinEntry &entry : methods) {
    if (entry.name == name) {
      return entry.function;
    }
  }
  return nullptr;
}

bool isUnsupportedMethod(std::string_view name) {
  static constexpr std::string_view names[] = {
      "encode",   "expandtabs",  "format_map",      "isascii",  "isidentifier",
      "istitle",  "isprintable", "maketrans",       "fromkeys", "translate",
      "to_bytes", "bit_length",  "as_integer_ratio"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

} // namespace quire::jinja
