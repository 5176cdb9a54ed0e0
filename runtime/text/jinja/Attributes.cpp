// Attributes, subscripts and slices, as Jinja2's immutable sandbox resolves
// them: `a.b` prefers a Python attribute (so `d.items` is the method), `a['b']`
// prefers the entry; what Python would let a template change is refused.

#include "runtime/text/jinja/Builtins.h"
#include "runtime/text/jinja/Print.h"
#include "runtime/text/jinja/Unicode.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace quire::jinja {

static std::string describeObject(const Value &object) {
  switch (object.kind()) {
  case Kind::None:
    return "None";
  case Kind::Namespace:
    return "jinja2.utils.Namespace object";
  case Kind::Loop:
    return "jinja2.runtime.LoopContext object";
  case Kind::Callable:
    return "jinja2.runtime.Macro object";
  default:
    return object.typeName() + " object";
  }
}

static Value missing(Context &context, const Value &object,
                     const std::string &name) {
  return context.undefined(absl::StrCat("'", describeObject(object),
                                        "' has no attribute ", quoted(name)));
}

static Value missing(Context &context, const Value &object, const Value &key) {
  if (key.isString()) {
    return missing(context, object, key.string());
  }
  return context.undefined(absl::StrCat(
      describeObject(object), " has no element ", toRepr(context, key)));
}

/// Methods that change their object, or that belong to Python's internals.
static bool isForbidden(const Value &object, std::string_view name) {
  static constexpr std::string_view listMutators[] = {
      "append", "clear", "pop",    "reverse",
      "insert", "sort",  "extend", "remove"};
  static constexpr std::string_view dictMutators[] = {"clear", "pop", "popitem",
                                                      "setdefault", "update"};
  if (object.isSequence(Sequence::Type::List)) {
    return std::find(std::begin(listMutators), std::end(listMutators), name) !=
           std::end(listMutators);
  }
  if (object.is(Kind::Mapping)) {
    return std::find(std::begin(dictMutators), std::end(dictMutators), name) !=
           std::end(dictMutators);
  }
  return false;
}

static Builtin findMethod(const Value &object, std::string_view name) {
  switch (object.kind()) {
  case Kind::String:
    return findTextMethod(name);
  case Kind::Mapping:
    return findMappingMethod(name);
  case Kind::Sequence:
    return object.sequence().indexable() ? findSequenceMethod(name) : nullptr;
  default:
    return nullptr;
  }
}

static Value loopAttribute(Context &context, Loop &loop, const Value &object,
                           const std::string &name) {
  auto number = [](size_t n) { return Value(static_cast<int64_t>(n)); };
  size_t count = loop.items.size();
  if (name == "index") {
    return number(loop.index + 1);
  }
  if (name == "index0") {
    return number(loop.index);
  }
  if (name == "revindex") {
    return number(count - loop.index);
  }
  if (name == "revindex0") {
    return number(count - loop.index - 1);
  }
  if (name == "first") {
    return Value(loop.index == 0);
  }
  if (name == "last") {
    return Value(loop.index + 1 == count);
  }
  if (name == "length") {
    return number(count);
  }
  if (name == "depth") {
    return number(static_cast<size_t>(loop.level) + 1);
  }
  if (name == "depth0") {
    return number(static_cast<size_t>(loop.level));
  }
  if (name == "previtem") {
    return loop.index > 0 ? loop.items[loop.index - 1]
                          : context.undefined("there is no previous item");
  }
  if (name == "nextitem") {
    return loop.index + 1 < count ? loop.items[loop.index + 1]
                                  : context.undefined("there is no next item");
  }
  Loop *self = &loop;
  if (name == "cycle") {
    return context.function(name, [self](Context &c, const Arguments &args) {
      if (args.positional.empty()) {
        return c.fail("no items for cycling given");
      }
      return args.positional[self->index % args.positional.size()];
    });
  }
  if (name == "changed") {
    return context.function(name, [self](Context &c, const Arguments &args) {
      bool same = self->hasChanged &&
                  self->lastChanged.size() == args.positional.size() &&
                  std::equal(args.positional.begin(), args.positional.end(),
                             self->lastChanged.begin(), equals);
      for (const Value &value : args.positional) {
        c.work(value.weight() * 64);
      }
      self->hasChanged = true;
      self->lastChanged = args.positional;
      return Value(!same);
    });
  }
  return missing(context, object, name);
}

/// What Python's getattr finds, if anything.
static std::optional<Value> pythonAttribute(Context &context,
                                            const Value &object,
                                            const std::string &name) {
  if (object.is(Kind::Loop)) {
    return loopAttribute(context, object.loop(), object, name);
  }
  if (object.is(Kind::Callable) && name == "name") {
    return context.text(object.callable().name);
  }
  if (name.starts_with("__") || isForbidden(object, name)) {
    return context.undefined(absl::StrCat("access to attribute ", quoted(name),
                                          " of '", object.typeName(),
                                          "' object is unsafe."));
  }
  if (Builtin method = findMethod(object, name)) {
    return context.function(
        name,
        [object, method](Context &c, const Arguments &args) {
          return method(c, object, args);
        },
        object.depth() + 1);
  }
  return std::nullopt;
}

Value getAttribute(Context &context, const Value &object,
                   const std::string &name) {
  if (context.failed()) {
    return Value();
  }
  if (object.isUndefined()) {
    return failUndefined(context, object);
  }
  if (object.is(Kind::Namespace)) {
    Value *field = object.ns().find(name);
    return field ? *field : missing(context, object, name);
  }
  if (std::optional<Value> found = pythonAttribute(context, object, name)) {
    return *found;
  }
  if (object.is(Kind::Mapping)) {
    if (const Value *entry = object.mapping().find(name)) {
      return *entry;
    }
  }
  return missing(context, object, name);
}

/// Turns an index that may count from the end into an offset; -1 if outside.
static int64_t resolveIndex(int64_t index, size_t size) {
  auto count = static_cast<int64_t>(size);
  if (index < 0) {
    index += count;
  }
  return index < 0 || index >= count ? -1 : index;
}

Value getItem(Context &context, const Value &object, const Value &key) {
  if (context.failed()) {
    return Value();
  }
  if (object.isUndefined()) {
    return failUndefined(context, object);
  }
  if (object.is(Kind::Mapping)) {
    context.work(key.isString() ? 0 : object.mapping().entries.size());
    if (const Value *entry = object.mapping().find(key)) {
      return *entry;
    }
  } else if (object.is(Kind::Sequence) && key.isInteger() &&
             object.sequence().indexable()) {
    const auto &items = object.sequence().items;
    int64_t index = resolveIndex(key.integer(), items.size());
    if (index >= 0) {
      return items[static_cast<size_t>(index)];
    }
  } else if (object.isString() && key.isInteger()) {
    const Text &text = object.text();
    context.work(text.size());
    int64_t index = resolveIndex(key.integer(), countPoints(text.str()));
    if (index >= 0) {
      size_t begin = offsetOfPoint(text.str(), static_cast<size_t>(index));
      size_t end = begin;
      decodeNext(text.str(), end);
      return context.text(text.slice(begin, end));
    }
  } else if (key.isString() && object.is(Kind::Namespace)) {
    return getAttribute(context, object, key.string());
  }
  if (key.isString()) {
    if (auto found = pythonAttribute(context, object, key.string())) {
      return *found;
    }
  }
  return missing(context, object, key);
}

namespace {

/// The indices start, start + step, ... of a slice, as Python clips them.
struct SliceRange {
  int64_t start;
  int64_t count;
  int64_t step;
};

} // namespace

static std::optional<SliceRange> resolveSlice(Context &context, size_t size,
                                              const Value &start,
                                              const Value &stop,
                                              const Value &step) {
  auto length = static_cast<int64_t>(size);
  for (const Value *bound : {&start, &stop, &step}) {
    if (bound->isUndefined()) {
      failUndefined(context, *bound);
      return std::nullopt;
    }
    if (!bound->isNone() && !bound->isInteger()) {
      context.fail("slice indices must be integers or None or have an "
                   "__index__ method");
      return std::nullopt;
    }
  }
  int64_t by = step.isNone() ? 1 : step.integer();
  if (by == 0) {
    context.fail("slice step cannot be zero");
    return std::nullopt;
  }
  by = std::clamp<int64_t>(by, -length - 1, length + 1);
  auto clip = [&](const Value &bound, int64_t otherwise) {
    if (bound.isNone()) {
      return otherwise;
    }
    int64_t place = bound.integer();
    if (place < 0) {
      place = std::max(place + length, by < 0 ? int64_t(-1) : int64_t(0));
    }
    return std::min(place, by < 0 ? length - 1 : length);
  };
  int64_t first = clip(start, by < 0 ? length - 1 : 0);
  int64_t last = clip(stop, by < 0 ? -1 : length);
  int64_t span = by > 0 ? last - first : first - last;
  int64_t stride = by > 0 ? by : -by;
  return SliceRange{first, span <= 0 ? 0 : (span + stride - 1) / stride, by};
}

static Value sliceText(Context &context, const Text &text,
                       const SliceRange &range) {
  if (range.step == 1) {
    size_t begin = offsetOfPoint(text.str(), static_cast<size_t>(range.start));
    size_t length = offsetOfPoint(std::string_view(text.str()).substr(begin),
                                  static_cast<size_t>(range.count));
    return context.text(text.slice(begin, begin + length));
  }
  std::vector<size_t> offsets;
  for (size_t i = 0; i < text.size();) {
    offsets.push_back(i);
    decodeNext(text.str(), i);
  }
  offsets.push_back(text.size());
  Text result;
  for (int64_t i = 0; i < range.count; ++i) {
    auto at = static_cast<size_t>(range.start + i * range.step);
    result.append(text, offsets[at], offsets[at + 1]);
  }
  return context.text(std::move(result));
}

Value sliceOf(Context &context, const Value &container, const Value &start,
              const Value &stop, const Value &step) {
  if (context.failed()) {
    return Value();
  }
  if (container.isUndefined()) {
    return failUndefined(context, container);
  }
  if (container.isString()) {
    const Text &text = container.text();
    context.work(text.size() * (step.isNone() ? 2 : 10));
    auto range =
        resolveSlice(context, countPoints(text.str()), start, stop, step);
    return range ? sliceText(context, text, *range) : Value();
  }
  if (!container.is(Kind::Sequence) || !container.sequence().indexable()) {
    // Python raises TypeError, which the environment turns into undefined.
    return context.undefined(
        absl::StrCat(describeObject(container), " has no element slice"));
  }
  const Sequence &sequence = container.sequence();
  auto range = resolveSlice(context, sequence.items.size(), start, stop, step);
  std::vector<Value> items;
  for (int64_t i = 0; range && i < range->count; ++i) {
    items.push_back(
        sequence.items[static_cast<size_t>(range->start + i * range->step)]);
  }
  return context.sequence(sequence.type, std::move(items));
}

} // namespace quire::jinja
