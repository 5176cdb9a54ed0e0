// Filters that make numbers.

#include "runtime/text/jinja/FilterFamilies.h"
#include "runtime/text/jinja/Unicode.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <cmath>

namespace quire::jinja {

namespace {

using Args = const Arguments &;

std::string trimmedText(const Value &value) {
  Span span = trimmed(value.string());
  return value.string().substr(span.begin, span.end - span.begin);
}

std::optional<int64_t> truncated(double number) {
  if (!(std::fabs(number) < 9.2e18)) {
    return std::nullopt;
  }
  return static_cast<int64_t>(number);
}

std::optional<int64_t> parseInteger(std::string_view text, int64_t base) {
  int64_t result = 0;
  if (base == 10) {
    return absl::SimpleAtoi(std::string(text), &result) ? std::optional(result)
                                                        : std::nullopt;
  }
  bool negative = text.starts_with("-");
  text.remove_prefix(negative || text.starts_with("+") ? 1 : 0);
  char mark = base == 16 ? 'x' : base == 8 ? 'o' : 'b';
  if (text.size() > 2 && text[0] == '0' && (text[1] | 32) == mark) {
    text.remove_prefix(2);
  }
  if (text.empty() || text.size() > 15) {
    return std::nullopt;
  }
  for (char c : text) {
    int digit = c >= '0' && c <= '9'                 ? c - '0'
                : (c | 32) >= 'a' && (c | 32) <= 'z' ? (c | 32) - 'a' + 10
                                                     : 99;
    if (digit >= base || __builtin_mul_overflow(result, base, &result)) {
      return std::nullopt;
    }
    result += digit;
  }
  return negative ? -result : result;
}

Value toInteger(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"default", "base"});
  Value otherwise = p.has(0) ? p[0] : Value(int64_t(0));
  int64_t base = p.integer(1, 10);
  if (base < 2 || base > 36) {
    return context.fail("int() base must be >= 2 and <= 36");
  }
  std::optional<int64_t> result;
  if (self.isUndefined()) {
    return failUndefined(context, self);
  }
  if (self.isInteger() || self.is(Kind::BigInt)) {
    return self.is(Kind::BigInt) ? self : Value(self.integer());
  }
  if (self.is(Kind::Float)) {
    result = truncated(self.number());
  } else if (self.isString()) {
    double number = 0;
    result = parseInteger(trimmedText(self), base);
    if (!result && absl::SimpleAtod(trimmedText(self), &number)) {
      result = truncated(number);
    }
  }
  return result ? Value(*result) : otherwise;
}

Value toFloat(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"default"});
  double number = 0;
  if (self.isUndefined()) {
    return failUndefined(context, self);
  }
  if (self.isNumber()) {
    return Value(self.number());
  }
  if (self.isString() && absl::SimpleAtod(trimmedText(self), &number)) {
    return Value(number);
  }
  return p.has(0) ? p[0] : Value(0.0);
}

Value absolute(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {});
  if (self.is(Kind::Float)) {
    return Value(std::fabs(self.number()));
  }
  if (!self.isInteger()) {
    return self.isUndefined()
               ? failUndefined(context, self)
               : context.fail(absl::StrCat("bad operand type for abs(): '",
                                           self.typeName(), "'"));
  }
  return self.integer() < 0 ? arithmetic(context, "neg", self, Value())
                            : Value(self.integer());
}

/// Python's round(): halves go to the even neighbour, judged on the decimal
/// digits of the exact value.
double roundTo(double value, int64_t precision) {
  if (precision > 300 || !std::isfinite(value)) {
    return value;
  }
  if (precision <= 0) {
    double scale = std::pow(10.0, static_cast<double>(-precision));
    return std::nearbyint(value / scale) * scale;
  }
  char buffer[700];
  std::snprintf(buffer, sizeof(buffer), "%.*f", static_cast<int>(precision),
                value);
  return std::strtod(buffer, nullptr);
}

Value round(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"precision", "method"});
  int64_t precision = p.integer(0, 0);
  std::string method = p.text(1, "common").str();
  if (self.isUndefined()) {
    return failUndefined(context, self);
  }
  if (!self.isNumber()) {
    return context.fail(absl::StrCat("type ", self.typeName(),
                                     " doesn't define __round__ method"));
  }
  if (method != "common" && method != "ceil" && method != "floor") {
    return context.fail("method must be common, ceil or floor");
  }
  if (precision < -300) {
    return Value(0.0);
  }
  if (method == "common") {
    double rounded = roundTo(self.number(), precision);
    return self.isInteger()
               ? (precision >= 0 ? Value(self.integer())
                                 : Value(static_cast<int64_t>(rounded)))
               : Value(rounded);
  }
  double scale = std::pow(10.0, static_cast<double>(precision));
  double scaled = self.number() * scale;
  return Value((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) /
               scale);
}

Value length(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {});
  return lengthOf(context, self);
}

Value sum(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"attribute", "start"});
  Value total = p.has(1) ? p[1] : Value(int64_t(0));
  auto items = iterate(context, self);
  for (size_t i = 0; items && i < items->size() && context.step(); ++i) {
    Value item =
        p[0].isNone() ? (*items)[i] : followPath(context, (*items)[i], p[0]);
    total = arithmetic(context, "+", total, item);
  }
  return total;
}

constexpr BuiltinEntry filters[] = {
    {"abs", absolute},  {"count", length},  {"float", toFloat},
    {"int", toInteger}, {"length", length}, {"round", round},
    {"sum", sum},
};

} // namespace

std::span<const BuiltinEntry> numberFilters() { return filters; }

} // namespace quire::jinja
