// Python's two ways of filling a text in: "%s" % x and "{}".format(x). The
// conversions that templates use; anything else is an error by name.

#include "runtime/text/jinja/Builtins.h"
#include "runtime/text/jinja/Print.h"
#include "runtime/text/jinja/Unicode.h"

#include "absl/strings/str_cat.h"

#include <cmath>

namespace quire::jinja {

namespace {

/// [[fill]align][sign][#][0][width][,][.precision][type]
struct Spec {
  std::string fill = " ";
  char align = '\0';
  char sign = '-';
  bool thousands = false;
  size_t width = 0;
  int precision = -1;
  char type = '\0';
};

constexpr size_t widest = 10000;

std::optional<size_t> readNumber(std::string_view text, size_t &at) {
  if (at >= text.size() || text[at] < '0' || text[at] > '9') {
    return std::nullopt;
  }
  size_t number = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    number =
        std::min(widest, number * 10 + static_cast<size_t>(text[at] - '0'));
  }
  return number;
}

std::optional<Spec> parseSpec(std::string_view text) {
  Spec spec;
  size_t at = 0;
  auto isAlign = [](char c) {
    return c == '<' || c == '>' || c == '^' || c == '=';
  };
  size_t second = text.empty() ? 0 : offsetOfPoint(text, 1);
  if (second < text.size() && isAlign(text[second])) {
    spec.fill = std::string(text.substr(0, second));
    spec.align = text[second];
    at = second + 1;
  } else if (!text.empty() && isAlign(text[0])) {
    spec.align = text[at++];
  }
  if (at < text.size() &&
      (text[at] == '+' || text[at] == '-' || text[at] == ' ')) {
    spec.sign = text[at++];
  }
  if (at < text.size() && text[at] == '0' && !spec.align) {
    spec.fill = "0";
    spec.align = '=';
    ++at;
  }
  spec.width = readNumber(text, at).value_or(0);
  if (at < text.size() && text[at] == ',') {
    spec.thousands = true;
    ++at;
  }
  if (at < text.size() && text[at] == '.') {
    auto precision = readNumber(text, ++at);
    if (!precision) {
      return std::nullopt;
    }
    spec.precision = static_cast<int>(std::min<size_t>(*precision, 300));
  }
  if (at < text.size()) {
    spec.type = text[at++];
  }
  return at == text.size() ? std::optional(spec) : std::nullopt;
}

void groupThousands(std::string &digits) {
  size_t end = std::min(digits.find_first_of(".e"), digits.size());
  for (size_t i = end; i > 3; i -= 3) {
    digits.insert(i - 3, ",");
  }
}

/// The digits of a number without its sign, or nothing for a type that is
/// not supported.
std::optional<std::string> numberDigits(const Value &value, const Spec &spec) {
  char type = spec.type;
  if (value.isInteger() && (type == '\0' || type == 'd' || type == 'x' ||
                            type == 'X' || type == 'o' || type == 'i')) {
    int64_t number = value.integer();
    uint64_t magnitude = number < 0 ? 0 - static_cast<uint64_t>(number)
                                    : static_cast<uint64_t>(number);
    char buffer[32];
    const char *form = type == 'x'   ? "%lx"
                       : type == 'X' ? "%lX"
                       : type == 'o' ? "%lo"
                                     : "%lu";
    std::snprintf(buffer, sizeof(buffer), form,
                  static_cast<unsigned long>(magnitude));
    return std::string(buffer);
  }
  double magnitude = std::fabs(value.number());
  if (type == '\0' && spec.precision < 0) {
    return formatFloat(magnitude);
  }
  if (type != 'f' && type != 'F' && type != 'e' && type != 'g' && type != '%') {
    return std::nullopt;
  }
  int precision = spec.precision < 0 ? 6 : spec.precision;
  char form[] = {'%', '.', '*', type == '%' ? 'f' : type, '\0'};
  char buffer[700];
  std::snprintf(buffer, sizeof(buffer), form, precision,
                type == '%' ? magnitude * 100 : magnitude);
  return std::string(buffer) + (type == '%' ? "%" : "");
}

void pad(Text &out, const Text &body, std::string_view sign, const Spec &spec,
         char align) {
  size_t length = countPoints(body.str()) + sign.size();
  size_t missing = spec.width > length ? spec.width - length : 0;
  size_t before = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  auto fill = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) {
      out.append(spec.fill);
    }
  };
  if (align == '=') {
    out.append(sign);
  }
  fill(before);
  if (align != '=') {
    out.append(sign);
  }
  out.append(body);
  fill(missing - before);
}

void formatValue(Context &context, const Value &value, const Spec &spec,
                 Text &out) {
  context.work(spec.width);
  bool numeric = value.isNumber() && !value.is(Kind::Bool);
  if (!numeric || spec.type == 's') {
    Text body = toText(context, value);
    if (spec.precision >= 0) {
      body = body.slice(
          0, offsetOfPoint(body.str(), static_cast<size_t>(spec.precision)));
    }
    if (spec.type != '\0' && spec.type != 's') {
      context.fail(
          absl::StrCat("Unknown format code '", std::string(1, spec.type),
                       "' for object of type '", value.typeName(), "'"));
    }
    pad(out, body, "", spec, spec.align ? spec.align : '<');
    return;
  }
  auto digits = numberDigits(value, spec);
  if (!digits) {
    context.fail(absl::StrCat("the format code '", std::string(1, spec.type),
                              "' is not supported for a number"));
    return;
  }
  if (spec.thousands) {
    groupThousands(*digits);
  }
  bool negative = std::signbit(value.number());
  std::string sign = negative           ? "-"
                     : spec.sign == '-' ? ""
                                        : std::string(1, spec.sign);
  pad(out, Text(*digits), sign, spec, spec.align ? spec.align : '>');
}

/// Reads `{name.attr[key]!r:spec}` fields.
class BraceFormatter {
public:
  BraceFormatter(Context &context, const Text &format, const Arguments &args)
      : context(context), format(format), args(args) {}

  Value run() {
    const std::string &text = format.str();
    for (size_t i = 0; i < text.size() && !context.failed();) {
      char c = text[i];
      if ((c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == c) {
        out.append(format, i, i + 1);
        i += 2;
      } else if (c == '}') {
        return context.fail("Single '}' encountered in format string");
      } else if (c == '{') {
        size_t end = text.find('}', i);
        if (end == std::string::npos) {
          return context.fail("Single '{' encountered in format string");
        }
        field(std::string_view(text).substr(i + 1, end - i - 1));
        i = end + 1;
      } else {
        size_t end = std::min(text.find_first_of("{}", i), text.size());
        out.append(format, i, end);
        i = end;
      }
    }
    return context.text(std::move(out));
  }

private:
  void field(std::string_view body) {
    size_t colon = body.find(':');
    std::string_view name = body.substr(0, colon);
    auto spec = parseSpec(
        colon == std::string_view::npos ? "" : body.substr(colon + 1));
    if (!spec) {
      context.fail("Invalid format specifier");
      return;
    }
    char conversion = '\0';
    if (name.size() >= 2 && name[name.size() - 2] == '!') {
      conversion = name.back();
      name.remove_suffix(2);
    }
    Value value = resolve(name);
    if (conversion == 'r') {
      Text shown;
      represent(context, value, shown);
      value = context.text(std::move(shown));
    } else if (conversion == 's') {
      value = context.text(toText(context, value));
    } else if (conversion) {
      context.fail("Unknown conversion specifier");
    }
    formatValue(context, value, *spec, out);
  }

  Value resolve(std::string_view name) {
    size_t end = std::min(name.find_first_of(".["), name.size());
    Value value = argument(name.substr(0, end));
    while (end < name.size() && !context.failed()) {
      if (name[end] == '.') {
        size_t stop = std::min(name.find_first_of(".[", end + 1), name.size());
        value = getAttribute(context, value,
                             std::string(name.substr(end + 1, stop - end - 1)));
        end = stop;
        continue;
      }
      size_t stop = name.find(']', end);
      if (stop == std::string_view::npos) {
        return context.fail("Missing ']' in format string");
      }
      std::string_view key = name.substr(end + 1, stop - end - 1);
      size_t at = 0;
      auto index = readNumber(key, at);
      value = getItem(context, value,
                      index && at == key.size()
                          ? Value(static_cast<int64_t>(*index))
                          : Value::text(key));
      end = stop + 1;
    }
    return value;
  }

  Value argument(std::string_view name) {
    size_t at = 0;
    std::optional<size_t> index =
        name.empty() ? std::optional(nextIndex++) : readNumber(name, at);
    if (index) {
      return *index < args.positional.size()
                 ? args.positional[*index]
                 : context.fail("Replacement index out of range for "
                                "positional args tuple");
    }
    for (const auto &[key, value] : args.named) {
      if (key == name) {
        return value;
      }
    }
    return context.fail(quoted(name));
  }

  Context &context;
  const Text &format;
  const Arguments &args;
  size_t nextIndex = 0;
  Text out;
};

} // namespace

Value formatBraces(Context &context, const Text &format,
                   const Arguments &arguments) {
  context.work(format.size());
  return BraceFormatter(context, format, arguments).run();
}

Value formatPercent(Context &context, const Text &format,
                    const Arguments &arguments) {
  const std::string &text = format.str();
  context.work(text.size());
  Text out;
  size_t used = 0;
  for (size_t i = 0; i < text.size() && !context.failed();) {
    if (text[i] != '%') {
      size_t end = std::min(text.find('%', i), text.size());
      out.append(format, i, end);
      i = end;
      continue;
    }
    if (++i < text.size() && text[i] == '%') {
      out.append(format, i, i + 1);
      ++i;
      continue;
    }
    const Value *value = nullptr;
    if (i < text.size() && text[i] == '(') {
      size_t end = text.find(')', i);
      std::string key =
          end == std::string::npos ? "" : text.substr(i + 1, end - i - 1);
      for (const auto &[name, argument] : arguments.named) {
        value = name == key ? &argument : value;
      }
      if (!value && arguments.positional.size() == 1 &&
          arguments.positional[0].is(Kind::Mapping)) {
        value = arguments.positional[0].mapping().find(key);
        used = 1;
      }
      if (!value) {
        return context.fail(quoted(key));
      }
      i = end + 1;
    }
    Spec spec;
    spec.align = '>';
    for (; i < text.size() &&
           (text[i] == '-' || text[i] == '0' || text[i] == '+');
         ++i) {
      if (text[i] == '+') {
        spec.sign = '+';
      } else {
        spec.align = text[i] == '-' ? '<' : '=';
        spec.fill = text[i] == '-' ? " " : "0";
      }
    }
    spec.width = readNumber(text, i).value_or(0);
    if (i < text.size() && text[i] == '.') {
      spec.precision = static_cast<int>(
          std::min<size_t>(readNumber(text, ++i).value_or(0), 300));
    }
    if (i >= text.size()) {
      return context.fail("incomplete format");
    }
    spec.type = text[i++];
    if (!value) {
      if (used >= arguments.positional.size()) {
        return context.fail("not enough arguments for format string");
      }
      value = &arguments.positional[used++];
    }
    Value shown = *value;
    if (spec.type == 'r') {
      Text form;
      represent(context, shown, form);
      shown = context.text(std::move(form));
      spec.type = 's';
    } else if ((spec.type == 'd' || spec.type == 'i') && shown.isNumber()) {
      shown =
          shown.is(Kind::Float) && std::fabs(shown.number()) < 9e18
              ? Value(static_cast<int64_t>(shown.number()))
              : Value(shown.is(Kind::Bool) ? shown.integer() : shown.integer());
    } else if (spec.type != 's' && !shown.isNumber()) {
      return context.fail(absl::StrCat("%", std::string(1, spec.type),
                                       " format: a real number is required, "
                                       "not ",
                                       shown.typeName()));
    }
    formatValue(context, shown, spec, out);
  }
  if (used < arguments.positional.size() &&
      !(arguments.positional.size() == 1 &&
        arguments.positional[0].is(Kind::Mapping))) {
    return context.fail("not all arguments converted during string formatting");
  }
  return context.text(std::move(out));
}

} // namespace quire::jinja
