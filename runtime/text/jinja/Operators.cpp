// Python's operators on values: arithmetic, ordering, membership, length.

#include "runtime/text/jinja/Builtins.h"
#include "runtime/text/jinja/Print.h"
#include "runtime/text/jinja/Unicode.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>

namespace quire::jinja {

static Value badOperands(Context &context, std::string_view op, const Value &a,
                         const Value &b) {
  std::string shown(op == "**" ? "** or pow()" : op);
  return context.fail(absl::StrCat("unsupported operand type(s) for ", shown,
                                   ": '", a.typeName(), "' and '", b.typeName(),
                                   "'"));
}

static Value overflow(Context &context) {
  return context.fail("an integer beyond 64 bits is not supported");
}

static int64_t floorDivide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static Value integerPower(Context &context, int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) {
      return context.fail("0.0 cannot be raised to a negative power");
    }
    return Value(
        std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  int64_t result = 1;
  // Only 0 and +-1 can take more than 63 factors without overflow.
  if (base == 0 || base == 1 || base == -1) {
    return Value(exponent == 0 ? int64_t(1)
                 : base == -1  ? (exponent % 2 ? int64_t(-1) : int64_t(1))
                               : base);
  }
  for (int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) {
      return overflow(context);
    }
  }
  return Value(result);
}

static Value integerArithmetic(Context &context, std::string_view op, int64_t a,
                               int64_t b) {
  int64_t result = 0;
  if (op == "+") {
    return __builtin_add_overflow(a, b, &result) ? overflow(context)
                                                 : Value(result);
  }
  if (op == "-") {
    return __builtin_sub_overflow(a, b, &result) ? overflow(context)
                                                 : Value(result);
  }
  if (op == "*") {
    return __builtin_mul_overflow(a, b, &result) ? overflow(context)
                                                 : Value(result);
  }
  if (op == "**") {
    return integerPower(context, a, b);
  }
  if (b == 0) {
    return context.fail(op == "/"   ? "division by zero"
                        : op == "%" ? "integer modulo by zero"
                                    : "integer division or modulo by zero");
  }
  if (op == "/") {
    return Value(static_cast<double>(a) / static_cast<double>(b));
  }
  if (b == -1) {
    return op == "%" ? Value(int64_t(0))
                     : integerArithmetic(context, "-", 0, a);
  }
  int64_t quotient = floorDivide(a, b);
  return Value(op == "//" ? quotient : a - quotient * b);
}

static Value floatArithmetic(Context &context, std::string_view op, double a,
                             double b) {
  if (op == "+") {
    return Value(a + b);
  }
  if (op == "-") {
    return Value(a - b);
  }
  if (op == "*") {
    return Value(a * b);
  }
  if (op == "**") {
    return Value(std::pow(a, b));
  }
  if (b == 0) {
    return context.fail(op == "/"    ? "float division by zero"
                        : op == "//" ? "float floor division by zero"
                                     : "float modulo");
  }
  if (op == "/") {
    return Value(a / b);
  }
  double remainder = std::fmod(a, b);
  if (remainder != 0 && (remainder < 0) != (b < 0)) {
    remainder += b;
  }
  return Value(op == "%" ? remainder : std::floor((a - remainder) / b + 0.5));
}

static Value addText(Context &context, const Text &a, const Text &b) {
  bool markup = a.markup || b.markup;
  Text result = markup && !a.markup ? escapeHtml(a) : a;
  result.append(markup && !b.markup ? escapeHtml(b) : b);
  result.markup = markup;
  return context.text(std::move(result));
}

static Value add(Context &context, const Value &a, const Value &b) {
  if (a.isString()) {
    return b.isString()
               ? addText(context, a.text(), b.text())
               : context.fail(absl::StrCat("can only concatenate str (not \"",
                                           b.typeName(), "\") to str"));
  }
  if (a.is(Kind::Sequence)) {
    Sequence::Type type = a.sequence().type;
    if (type != Sequence::Type::List && type != Sequence::Type::Tuple) {
      return badOperands(context, "+", a, b);
    }
    if (!b.isSequence(type)) {
      return context.fail(absl::StrCat("can only concatenate ", a.typeName(),
                                       " (not \"", b.typeName(), "\") to ",
                                       a.typeName()));
    }
    std::vector<Value> items = a.sequence().items;
    items.insert(items.end(), b.sequence().items.begin(),
                 b.sequence().items.end());
    return context.sequence(type, std::move(items));
  }
  return badOperands(context, "+", a, b);
}

/// `value * count` for text and lists.
static Value repeat(Context &context, const Value &value, int64_t count) {
  count = std::max<int64_t>(count, 0);
  size_t unit = value.isString()
                    ? value.text().size()
                    : value.sequence().items.size() * sizeof(Value);
  // One step at least for each copy, so that copies of nothing end too.
  if (static_cast<uint64_t>(count) > context.limits.steps ||
      !context.step(static_cast<size_t>(count)) ||
      (unit > 0 &&
       static_cast<size_t>(count) > context.limits.textBytes / unit)) {
    return context.exhausted("repeated a value too often");
  }
  if (value.isString()) {
    Text result;
    for (int64_t i = 0; i < count; ++i) {
      result.append(value.text());
    }
    return context.text(std::move(result));
  }
  std::vector<Value> items;
  for (int64_t i = 0; i < count; ++i) {
    items.insert(items.end(), value.sequence().items.begin(),
                 value.sequence().items.end());
  }
  return context.sequence(value.sequence().type, std::move(items));
}

static bool isRepeatable(const Value &value) {
  return value.isString() || value.isSequence(Sequence::Type::List) ||
         value.isSequence(Sequence::Type::Tuple);
}

static Value unary(Context &context, std::string_view op, const Value &a) {
  bool negate = op == "neg";
  if (a.is(Kind::Float)) {
    return Value(negate ? -a.number() : a.number());
  }
  if (a.isInteger()) {
    return negate ? integerArithmetic(context, "-", 0, a.integer())
                  : Value(a.integer());
  }
  return context.fail(absl::StrCat("bad operand type for unary ",
                                   negate ? "-" : "+", ": '", a.typeName(),
                                   "'"));
}

Value arithmetic(Context &context, std::string_view op, const Value &a,
                 const Value &b) {
  if (context.failed()) {
    return Value();
  }
  if (a.isUndefined()) {
    return failUndefined(context, a);
  }
  if (op == "neg" || op == "pos") {
    return unary(context, op, a);
  }
  if (op == "%" && a.isString()) {
    Arguments arguments;
    if (b.isSequence(Sequence::Type::Tuple)) {
      arguments.positional = b.sequence().items;
    } else {
      arguments.positional = {b};
    }
    return formatPercent(context, a.text(), arguments);
  }
  if (b.isUndefined()) {
    return failUndefined(context, b);
  }
  if (a.is(Kind::BigInt) || b.is(Kind::BigInt)) {
    return overflow(context);
  }
  if (a.isInteger() && b.isInteger()) {
    return integerArithmetic(context, op, a.integer(), b.integer());
  }
  if (a.isNumber() && b.isNumber()) {
    return floatArithmetic(context, op, a.number(), b.number());
  }
  if (op == "+") {
    return add(context, a, b);
  }
  if (op == "*" && isRepeatable(a) && b.isInteger()) {
    return repeat(context, a, b.integer());
  }
  if (op == "*" && a.isInteger() && isRepeatable(b)) {
    return repeat(context, b, a.integer());
  }
  return badOperands(context, op, a, b);
}

bool lessThan(Context &context, const Value &a, const Value &b,
              std::string_view shownOperator) {
  if (context.failed()) {
    return false;
  }
  if (a.isInteger() && b.isInteger()) {
    return a.integer() < b.integer();
  }
  if (a.isNumber() && b.isNumber()) {
    return a.number() < b.number();
  }
  if (a.isString() && b.isString()) {
    // UTF-8 sorts by bytes as it does by code points.
    context.work(std::min(a.text().size(), b.text().size()));
    return a.string() < b.string();
  }
  if (a.is(Kind::Sequence) && b.is(Kind::Sequence) &&
      a.typeName() == b.typeName() && a.sequence().indexable()) {
    const auto &left = a.sequence().items;
    const auto &right = b.sequence().items;
    context.work(std::min(a.weight(), b.weight()) * 64);
    for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      if (!equals(left[i], right[i])) {
        return lessThan(context, left[i], right[i], shownOperator);
      }
    }
    return left.size() < right.size();
  }
  for (const Value *side : {&a, &b}) {
    if (side->isUndefined()) {
      failUndefined(context, *side);
      return false;
    }
  }
  // The caller swaps the sides for > and <=.
  bool swapped = shownOperator == ">" || shownOperator == "<=";
  context.fail(absl::StrCat("'", std::string(shownOperator),
                            "' not supported between instances of '",
                            (swapped ? b : a).typeName(), "' and '",
                            (swapped ? a : b).typeName(), "'"));
  return false;
}

bool contains(Context &context, const Value &container, const Value &item) {
  if (context.failed()) {
    return false;
  }
  switch (container.kind()) {
  case Kind::String:
    if (item.isUndefined()) {
      context.fail("'in <string>' requires string as left operand, not "
                   "Undefined");
      return false;
    }
    if (!item.isString()) {
      context.fail(
          absl::StrCat("'in <string>' requires string as left operand, not ",
                       item.typeName()));
      return false;
    }
    context.work(container.text().size());
    return container.string().find(item.string()) != std::string::npos;
  case Kind::Mapping:
    context.work(item.isString() ? 0 : container.weight() * 64);
    return container.mapping().find(item) != nullptr;
  case Kind::Sequence:
  case Kind::Undefined: {
    context.work(container.weight() * 64);
    auto items = iterate(context, container);
    return items && !context.failed() &&
           std::any_of(items->begin(), items->end(),
                       [&](const Value &each) { return equals(each, item); });
  }
  default:
    context.fail(absl::StrCat("argument of type '", container.typeName(),
                              "' is not iterable"));
    return false;
  }
}

Value lengthOf(Context &context, const Value &value) {
  switch (value.kind()) {
  case Kind::Undefined:
    return Value(int64_t(0));
  case Kind::String:
    context.work(value.text().size());
    return Value(static_cast<int64_t>(countPoints(value.string())));
  case Kind::Mapping:
    return Value(static_cast<int64_t>(value.mapping().entries.size()));
  case Kind::Sequence:
    if (value.sequence().type != Sequence::Type::Generator) {
      return Value(static_cast<int64_t>(value.sequence().items.size()));
    }
    break;
  case Kind::Loop:
    return Value(static_cast<int64_t>(value.loop().items.size()));
  default:
    break;
  }
  return context.fail(
      absl::StrCat("object of type '", value.typeName(), "' has no len()"));
}

} // namespace quire::jinja
