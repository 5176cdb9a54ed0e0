// Filters that take sequences and dicts apart and put them together.

#include "runtime/text/jinja/FilterFamilies.h"
#include "runtime/text/jinja/MergeSort.h"
#include "runtime/text/jinja/Print.h"
#include "runtime/text/jinja/TextTools.h"
#include "runtime/text/jinja/Unicode.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <algorithm>

namespace quire::jinja {

Value followPath(Context &context, Value item, const Value &path) {
  if (!path.isString()) {
    return path.isNone() ? item : getItem(context, item, path);
  }
  std::string_view rest = path.string();
  while (!context.failed()) {
    size_t dot = rest.find('.');
    std::string_view part = rest.substr(0, dot);
    int64_t index = 0;
    bool isIndex =
        !part.empty() &&
        part.find_first_not_of("0123456789") == std::string_view::npos &&
        absl::SimpleAtoi(std::string(part), &index);
    item = getItem(context, item, isIndex ? Value(index) : Value::text(part));
    if (dot == std::string_view::npos) {
      break;
    }
    rest.remove_prefix(dot + 1);
  }
  return item;
}

namespace {

using Args = const Arguments &;

std::vector<Value> itemsOf(Context &context, const Value &value) {
  return iterate(context, value).value_or(std::vector<Value>());
}

Value foldCase(const Value &value) {
  return value.isString() ? Value(Value::TextPtr(std::make_shared<Text>(
                                lowerCase(value.text()))))
                          : value;
}

Value defaultFilter(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"default_value", "boolean"});
  bool replace = self.isUndefined() || (p.flag(1, false) && !self.truthy());
  return !replace ? self : p.has(0) ? p[0] : Value::text("");
}

Value first(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {});
  if (self.isSequence(Sequence::Type::Generator)) {
    const Sequence &generator = self.sequence();
    return generator.next < generator.items.size()
               ? generator.items[generator.next++]
               : context.undefined("No first item, sequence was empty.");
  }
  std::vector<Value> items = itemsOf(context, self);
  return items.empty() ? context.undefined("No first item, sequence was empty.")
                       : items.front();
}

Value last(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {});
  if (self.isSequence(Sequence::Type::Generator)) {
    return context.fail("'generator' object is not reversible");
  }
  std::vector<Value> items = itemsOf(context, self);
  return items.empty() ? context.undefined("No last item, sequence was empty.")
                       : items.back();
}

Value list(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {});
  return context.list(itemsOf(context, self));
}

Value items(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {});
  if (self.isUndefined()) {
    return context.sequence(Sequence::Type::Generator, {});
  }
  if (!self.is(Kind::Mapping)) {
    return context.fail("Can only get item pairs from a mapping.");
  }
  std::vector<Value> pairs;
  for (const auto &[key, value] : self.mapping().entries) {
    pairs.push_back(context.tuple({key, value}));
  }
  return context.sequence(Sequence::Type::Generator, std::move(pairs));
}

Value join(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"d", "attribute"});
  Text separator = p.has(0) ? toText(context, p[0]) : Text();
  Text result;
  bool firstItem = true;
  for (const Value &item : itemsOf(context, self)) {
    if (!context.work(separator.size() + 8)) {
      break;
    }
    if (!firstItem) {
      result.append(separator);
    }
    firstItem = false;
    print(context, p[1].isNone() ? item : followPath(context, item, p[1]),
          result);
  }
  return context.text(std::move(result));
}

Value reverse(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {});
  if (self.isString()) {
    Value step{int64_t(-1)};
    return sliceOf(context, self, Value(None()), Value(None()), step);
  }
  std::vector<Value> reversed = itemsOf(context, self);
  std::reverse(reversed.begin(), reversed.end());
  return context.sequence(Sequence::Type::Generator, std::move(reversed));
}

/// A stable sort that survives an ordering which fails half-way.
void sortBy(Context &context, std::vector<std::pair<Value, Value>> &keyed,
            bool descending) {
  if (!context.step(keyed.size() * 16)) {
    return;
  }
  mergeSort(keyed, [&](const auto &a, const auto &b) {
    return descending ? lessThan(context, b.first, a.first)
                      : lessThan(context, a.first, b.first);
  });
}

Value sort(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"reverse", "case_sensitive", "attribute"});
  bool caseSensitive = p.flag(1, false);
  std::vector<std::string> paths;
  if (p[2].isString()) {
    std::string_view rest = p[2].string();
    for (size_t comma; (comma = rest.find(',')) != std::string_view::npos;
         rest.remove_prefix(comma + 1)) {
      paths.emplace_back(rest.substr(0, comma));
    }
    paths.emplace_back(rest);
  }
  std::vector<std::pair<Value, Value>> keyed;
  for (Value &item : itemsOf(context, self)) {
    std::vector<Value> key;
    for (const std::string &path : paths) {
      key.push_back(followPath(context, item, Value::text(path)));
    }
    if (paths.empty()) {
      key.push_back(p[2].isNone() ? item : followPath(context, item, p[2]));
    }
    if (!caseSensitive) {
      std::transform(key.begin(), key.end(), key.begin(), foldCase);
    }
    keyed.emplace_back(context.list(std::move(key)), std::move(item));
  }
  sortBy(context, keyed, p.flag(0, false));
  std::vector<Value> sorted;
  for (auto &[key, item] : keyed) {
    sorted.push_back(std::move(item));
  }
  return context.list(std::move(sorted));
}

Value dictsort(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"case_sensitive", "by", "reverse"});
  std::string by = p.text(1, "key").str();
  if (by != "key" && by != "value") {
    return context.fail("You can only sort by either \"key\" or \"value\"");
  }
  if (!self.is(Kind::Mapping)) {
    return self.isUndefined()
               ? failUndefined(context, self)
               : context.fail(absl::StrCat("'", self.typeName(),
                                           "' object has no attribute "
                                           "'items'"));
  }
  std::vector<std::pair<Value, Value>> keyed;
  for (const auto &[key, value] : self.mapping().entries) {
    const Value &sortKey = by == "key" ? key : value;
    keyed.emplace_back(p.flag(0, false) ? sortKey : foldCase(sortKey),
                       context.tuple({key, value}));
  }
  sortBy(context, keyed, p.flag(2, false));
  std::vector<Value> sorted;
  for (auto &[key, pair] : keyed) {
    sorted.push_back(std::move(pair));
  }
  return context.list(std::move(sorted));
}

Value unique(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"case_sensitive", "attribute"});
  Mapping seen;
  std::vector<Value> kept;
  for (Value &item : itemsOf(context, self)) {
    Value key = p[1].isNone() ? item : followPath(context, item, p[1]);
    if (!p.flag(0, false)) {
      key = foldCase(key);
    }
    context.work(key.isString() ? 0 : seen.entries.size() * 8);
    if (context.failed()) {
      break;
    }
    if (!seen.find(key)) {
      seen.set(key, Value(true));
      kept.push_back(std::move(item));
    }
  }
  return context.sequence(Sequence::Type::Generator, std::move(kept));
}

template <bool largest>
Value extreme(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"case_sensitive", "attribute"});
  std::optional<Value> best;
  Value bestKey;
  for (Value &item : itemsOf(context, self)) {
    Value key = p[1].isNone() ? item : followPath(context, item, p[1]);
    if (!p.flag(0, false)) {
      key = foldCase(key);
    }
    if (!best || (largest ? lessThan(context, bestKey, key, ">")
                          : lessThan(context, key, bestKey, "<"))) {
      best = std::move(item);
      bestKey = std::move(key);
    }
  }
  return best ? *best
              : context.undefined("No aggregated item, sequence was empty.");
}

Value batch(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"linecount", "fill_with"});
  int64_t size = p.integer(0, 0);
  if (size < 1 || size > 100000) {
    return context.fail("batch needs a size from 1 to 100000");
  }
  std::vector<Value> rows;
  std::vector<Value> row;
  for (Value &item : itemsOf(context, self)) {
    if (row.size() == static_cast<size_t>(size)) {
      rows.push_back(context.list(std::move(row)));
      row.clear();
    }
    row.push_back(std::move(item));
  }
  if (!row.empty()) {
    if (!p[1].isNone()) {
      row.resize(static_cast<size_t>(size), p[1]);
    }
    rows.push_back(context.list(std::move(row)));
  }
  return context.sequence(Sequence::Type::Generator, std::move(rows));
}

Value slice(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"slices", "fill_with"});
  int64_t count = p.integer(0, 0);
  if (count < 1 || count > 100000) {
    return context.fail("slice needs a count from 1 to 100000");
  }
  std::vector<Value> items = itemsOf(context, self);
  auto slices = static_cast<size_t>(count);
  size_t each = items.size() / slices;
  size_t longer = items.size() % slices;
  std::vector<Value> rows;
  size_t place = 0;
  for (size_t i = 0; i < slices; ++i) {
    size_t end = place + each + (i < longer ? 1 : 0);
    std::vector<Value> row(items.begin() + static_cast<ptrdiff_t>(place),
                           items.begin() + static_cast<ptrdiff_t>(end));
    if (!p[1].isNone() && i >= longer) {
      row.push_back(p[1]);
    }
    rows.push_back(context.list(std::move(row)));
    place = end;
  }
  return context.sequence(Sequence::Type::Generator, std::move(rows));
}

constexpr BuiltinEntry filters[] = {
    {"batch", batch},       {"d", defaultFilter},    {"default", defaultFilter},
    {"dictsort", dictsort}, {"first", first},        {"items", items},
    {"join", join},         {"last", last},          {"list", list},
    {"max", extreme<true>}, {"min", extreme<false>}, {"reverse", reverse},
    {"slice", slice},       {"sort", sort},          {"unique", unique},
};

} // namespace

std::span<const BuiltinEntry> sequenceFilters() { return filters; }

} // namespace quire::jinja
