// The tests: what may stand behind `is`.

#include "runtime/text/jinja/Builtins.h"
#include "runtime/text/jinja/Unicode.h"

#include "absl/strings/str_cat.h"

namespace quire::jinja {

namespace {

using Args = const Arguments &;

template <Kind... kinds> Value isKind(Context &, const Value &self, Args) {
  return Value((self.is(kinds) || ...));
}

Value isDefined(Context &, const Value &self, Args) {
  return Value(!self.isUndefined());
}

Value isTrue(Context &, const Value &self, Args) {
  return Value(self.is(Kind::Bool) && self.boolean());
}

Value isFalse(Context &, const Value &self, Args) {
  return Value(self.is(Kind::Bool) && !self.boolean());
}

Value isIterable(Context &, const Value &self, Args) {
  return Value(self.isUndefined() || self.isString() ||
               self.is(Kind::Sequence) || self.is(Kind::Mapping) ||
               self.is(Kind::Loop));
}

/// Jinja2 asks for a length and subscripts, so dicts and undefined pass too.
Value isSequence(Context &, const Value &self, Args) {
  return Value(self.isUndefined() || self.isString() ||
               self.is(Kind::Mapping) ||
               (self.is(Kind::Sequence) && self.sequence().indexable()));
}

Value remainder(Context &context, const Value &self, int64_t divisor) {
  return arithmetic(context, "%", self, Value(divisor));
}

Value isOdd(Context &context, const Value &self, Args) {
  return Value(equals(remainder(context, self, 2), Value(int64_t(1))));
}

Value isEven(Context &context, const Value &self, Args) {
  return Value(equals(remainder(context, self, 2), Value(int64_t(0))));
}

/// The one argument that a test of two values takes.
const Value *onlyArgument(Context &context, Args args) {
  if (args.positional.size() != 1 || !args.named.empty()) {
    context.fail("this test takes exactly one argument");
    return nullptr;
  }
  return &args.positional[0];
}

Value isDivisibleBy(Context &context, const Value &self, Args args) {
  const Value *divisor = onlyArgument(context, args);
  if (!divisor) {
    return Value();
  }
  return Value(
      equals(arithmetic(context, "%", self, *divisor), Value(int64_t(0))));
}

bool equalTo(Context &context, const Value &a, const Value &b) {
  context.work(std::min(a.weight(), b.weight()) * 64);
  return !context.failed() && equals(a, b);
}

Value isEqual(Context &context, const Value &self, Args args) {
  const Value *other = onlyArgument(context, args);
  return Value(other && equalTo(context, self, *other));
}

Value isNotEqual(Context &context, const Value &self, Args args) {
  const Value *other = onlyArgument(context, args);
  return Value(other && !equalTo(context, self, *other));
}

Value isLess(Context &context, const Value &self, Args args) {
  const Value *other = onlyArgument(context, args);
  return Value(other && lessThan(context, self, *other, "<"));
}

Value isGreater(Context &context, const Value &self, Args args) {
  const Value *other = onlyArgument(context, args);
  return Value(other && lessThan(context, *other, self, ">"));
}

Value isAtMost(Context &context, const Value &self, Args args) {
  const Value *other = onlyArgument(context, args);
  return Value(other && !lessThan(context, *other, self, "<="));
}

Value isAtLeast(Context &context, const Value &self, Args args) {
  const Value *other = onlyArgument(context, args);
  return Value(other && !lessThan(context, self, *other, ">="));
}

Value isIn(Context &context, const Value &self, Args args) {
  const Value *container = onlyArgument(context, args);
  return Value(container && contains(context, *container, self));
}

/// Python's `is`: for values that have no identity here, kind and equality.
Value isSameAs(Context &context, const Value &self, Args args) {
  const Value *other = onlyArgument(context, args);
  return Value(other && self.kind() == other->kind() &&
               equalTo(context, self, *other));
}

template <bool (*inCase)(char32_t), bool (*inOther)(char32_t)>
Value isCased(Context &context, const Value &self, Args) {
  if (!self.isString()) {
    return context.fail("a test of letter case needs text");
  }
  bool any = false;
  context.work(self.text().size());
  for (size_t i = 0; i < self.text().size();) {
    char32_t c = decodeNext(self.string(), i);
    if (inOther(c)) {
      return Value(false);
    }
    any = any || inCase(c);
  }
  return Value(any);
}

Value isEscaped(Context &, const Value &self, Args) {
  return Value(self.isString() && self.text().markup);
}

Value isFilter(Context &, const Value &self, Args) {
  return Value(self.isString() && findFilter(self.string()) != nullptr);
}

Value isTest(Context &, const Value &self, Args) {
  return Value(self.isString() && findTest(self.string()) != nullptr);
}

constexpr BuiltinEntry tests[] = {
    {"!=", isNotEqual},
    {"<", isLess},
    {"<=", isAtMost},
    {"==", isEqual},
    {">", isGreater},
    {">=", isAtLeast},
    {"boolean", isKind<Kind::Bool>},
    {"callable", isKind<Kind::Callable>},
    {"defined", isDefined},
    {"divisibleby", isDivisibleBy},
    {"eq", isEqual},
    {"equalto", isEqual},
    {"escaped", isEscaped},
    {"even", isEven},
    {"false", isFalse},
    {"filter", isFilter},
    {"float", isKind<Kind::Float>},
    {"ge", isAtLeast},
    {"greaterthan", isGreater},
    {"gt", isGreater},
    {"in", isIn},
    {"integer", isKind<Kind::Int, Kind::BigInt>},
    {"iterable", isIterable},
    {"le", isAtMost},
    {"lessthan", isLess},
    {"lower", isCased<isLower, isUpper>},
    {"lt", isLess},
    {"mapping", isKind<Kind::Mapping>},
    {"ne", isNotEqual},
    {"none", isKind<Kind::None>},
    {"number", isKind<Kind::Int, Kind::BigInt, Kind::Float, Kind::Bool>},
    {"odd", isOdd},
    {"sameas", isSameAs},
    {"sequence", isSequence},
    {"string", isKind<Kind::String>},
    {"test", isTest},
    {"true", isTrue},
    {"undefined", isKind<Kind::Undefined>},
    {"upper", isCased<isUpper, isLower>},
};

} // namespace

Builtin findTest(std::string_view name) {
  for (const BuiltinEntry &entry : tests) {
    if (entry.name == name) {
      return entry.function;
    }
  }
  return nullptr;
}

} // namespace quire::jinja
