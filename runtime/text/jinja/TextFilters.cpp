// Filters that make text.

#include "runtime/text/jinja/FilterFamilies.h"
#include "runtime/text/jinja/Json.h"
#include "runtime/text/jinja/Print.h"
#include "runtime/text/jinja/TextTools.h"
#include "runtime/text/jinja/Unicode.h"

#include "absl/strings/str_cat.h"

namespace quire::jinja {

namespace {

using Args = const Arguments &;

template <Text (*function)(const Text &)>
Value mapped(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {});
  Text text = toText(context, self);
  context.work(text.size() * 4);
  return p.ok() ? context.text(function(text)) : Value();
}

Text identity(const Text &text) { return text; }

/// The title filter: words begin after white space, hyphens and brackets.
Text titleWords(const Text &text) {
  Text result;
  bool inside = false;
  for (size_t i = 0; i < text.size();) {
    bool fromData = text.fromDataAt(i);
    char32_t c = decodeNext(text.str(), i);
    std::string piece;
    inside ? appendLower(piece, c) : appendUpper(piece, c);
    inside = !(isSpace(c) || c == '-' || c == '(' || c == '{' || c == '[' ||
               c == '<');
    result.append(piece, fromData);
  }
  return result;
}

Value trim(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"chars"});
  Text text = toText(context, self);
  context.work(text.size());
  if (p[0].isNone()) {
    return context.text(strip(text, nullptr, true, true));
  }
  Text set = p.text(0, "");
  return context.text(strip(text, &set, true, true));
}

Value replace(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"old", "new", "count"});
  if (!p.has(0) || !p.has(1)) {
    return context.fail("replace needs what to replace and by what");
  }
  Text text = toText(context, self);
  context.work(text.size());
  return context.text(replaceAll(context, text, toText(context, p[0]),
                                 toText(context, p[1]), p.integer(2, -1)));
}

Value indent(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"width", "first", "blank"});
  if (self.isUndefined()) {
    return failUndefined(context, self);
  }
  if (!self.isString()) {
    return context.fail(absl::StrCat("unsupported operand type(s) for +=: '",
                                     self.typeName(), "' and 'str'"));
  }
  Text indention = p[0].isString() ? p[0].text() : Text();
  if (!p[0].isString()) {
    int64_t width = p.integer(0, 4);
    if (!context.work(width > 0 ? static_cast<size_t>(width) : 0)) {
      return Value();
    }
    indention = spaces(width);
  }
  Text source = self.text();
  source.append("\n");
  std::vector<Text> lines = splitLines(source);
  Text result = p.flag(1, false) ? indention : Text();
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!context.work(lines[i].size() + indention.size())) {
      return Value();
    }
    if (i > 0) {
      result.append("\n", self.text().fromDataAt(0));
      if (!lines[i].empty() || p.flag(2, false)) {
        result.append(indention);
      }
    }
    result.append(lines[i]);
  }
  return context.text(std::move(result));
}

Value center(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"width"});
  Arguments width;
  width.positional.emplace_back(p.integer(0, 80));
  return findTextMethod("center")(context, context.text(toText(context, self)),
                                  width);
}

Value format(Context &context, const Value &self, Args args) {
  return formatPercent(context, toText(context, self), args);
}

Value tojson(Context &context, const Value &self, Args args) {
  Parameters p(context, args,
               {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ensureAscii = p.flag(0, false);
  style.sortKeys = p.flag(3, false);
  if (p[1].isString()) {
    style.indent = p[1].string();
  } else if (!p[1].isNone()) {
    int64_t width = p.integer(1, 0);
    style.indent = spaces(std::min<int64_t>(width, 1000)).str();
  }
  if (style.indent) {
    style.itemSeparator = ",";
  }
  if (!p[2].isNone()) {
    auto parts = iterate(context, p[2]);
    if (!parts || parts->size() != 2 || !(*parts)[0].isString() ||
        !(*parts)[1].isString()) {
      return context.fail("separators must be two strings");
    }
    style.itemSeparator = (*parts)[0].string();
    style.keySeparator = (*parts)[1].string();
  }
  return p.ok() && !context.failed() ? toJson(context, self, style) : Value();
}

Value safe(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {});
  Text text = toText(context, self);
  text.markup = true;
  return context.text(std::move(text));
}

template <bool always>
Value escape(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {});
  Text text = toText(context, self);
  context.work(text.size() * 2);
  if (always || !text.markup) {
    text = escapeHtml(text);
  }
  text.markup = true;
  return context.text(std::move(text));
}

Value wordcount(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {});
  std::string text = toText(context, self).str();
  context.work(text.size());
  int64_t words = 0;
  bool inside = false;
  for (size_t i = 0; i < text.size();) {
    char32_t c = decodeNext(text, i);
    bool wordCharacter = isAlpha(c) || isDigit(c) || c == '_';
    words += wordCharacter && !inside;
    inside = wordCharacter;
  }
  return Value(words);
}

constexpr BuiltinEntry filters[] = {
    {"capitalize", mapped<capitalize>},
    {"center", center},
    {"e", escape<false>},
    {"escape", escape<false>},
    {"forceescape", escape<true>},
    {"format", format},
    {"indent", indent},
    {"lower", mapped<lowerCase>},
    {"replace", replace},
    {"safe", safe},
    {"string", mapped<identity>},
    {"title", mapped<titleWords>},
    {"tojson", tojson},
    {"trim", trim},
    {"upper", mapped<upperCase>},
    {"wordcount", wordcount},
};

} // namespace

std::span<const BuiltinEntry> textFilters() { return filters; }

} // namespace quire::jinja
