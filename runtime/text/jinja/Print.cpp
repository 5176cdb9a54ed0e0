#include "runtime/text/jinja/Print.h"
#include "runtime/text/jinja/Unicode.h"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace quire::jinja {

std::string formatFloat(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-inf" : "inf";
  }
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), value,
                           std::chars_format::scientific);
  std::string text(buffer, end.ptr);
  std::string sign = text[0] == '-' ? "-" : "";
  text.erase(0, sign.size());
  size_t e = text.find('e');
  int exponent = std::atoi(text.c_str() + e + 1);
  std::string digits = text.substr(0, 1);
  if (e > 2) {
    digits += text.substr(2, e - 2);
  }
  int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    std::string mantissa = digits.substr(0, 1);
    if (count > 1) {
      mantissa += "." + digits.substr(1);
    }
    char tail[16];
    std::snprintf(tail, sizeof(tail), "e%c%02d", exponent < 0 ? '-' : '+',
                  std::abs(exponent));
    return sign + mantissa + tail;
  }
  if (exponent < 0) {
    return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') +
           digits;
  }
  if (count <= exponent + 1) {
    digits.append(static_cast<size_t>(exponent + 1 - count), '0');
    return sign + digits + ".0";
  }
  auto whole = static_cast<size_t>(exponent + 1);
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

/// Writes one character as repr() does inside `quote`s.
static void appendQuotedPoint(std::string &out, char32_t c, char quote) {
  char buffer[16];
  if (c == static_cast<char32_t>(quote) || c == '\\') {
    out.push_back('\\');
    out.push_back(static_cast<char>(c));
  } else if (c == '\n') {
    out += "\\n";
  } else if (c == '\r') {
    out += "\\r";
  } else if (c == '\t') {
    out += "\\t";
  } else if (isPrintable(c)) {
    appendUtf8(out, c);
  } else {
    const char *form = c < 0x100     ? "\\x%02x"
                       : c < 0x10000 ? "\\u%04x"
                                     : "\\U%08x";
    std::snprintf(buffer, sizeof(buffer), form, static_cast<unsigned>(c));
    out += buffer;
  }
}

static char quoteFor(std::string_view text) {
  return text.find('\'') != std::string_view::npos &&
                 text.find('"') == std::string_view::npos
             ? '"'
             : '\'';
}

static void representText(const Text &text, Text &out) {
  char quote = quoteFor(text.str());
  out.append(std::string_view(&quote, 1));
  for (size_t i = 0; i < text.size();) {
    bool fromData = text.fromDataAt(i);
    std::string piece;
    appendQuotedPoint(piece, decodeNext(text.str(), i), quote);
    out.append(piece, fromData);
  }
  out.append(std::string_view(&quote, 1));
}

std::string quoted(std::string_view text) {
  Text out;
  representText(Text(text), out);
  return out.str();
}

static void representItems(Context &context, const std::vector<Value> &items,
                           std::string_view open, std::string_view close,
                           Text &out) {
  out.append(open);
  for (size_t i = 0; i < items.size(); ++i) {
    out.append(i ? ", " : "");
    represent(context, items[i], out);
  }
  out.append(close);
}

static void representSequence(Context &context, const Sequence &sequence,
                              Text &out) {
  const std::vector<Value> &items = sequence.items;
  switch (sequence.type) {
  case Sequence::Type::List:
    return representItems(context, items, "[", "]", out);
  case Sequence::Type::Tuple:
    return representItems(context, items, "(", items.size() == 1 ? ",)" : ")",
                          out);
  case Sequence::Type::DictKeys:
    return representItems(context, items, "dict_keys([", "])", out);
  case Sequence::Type::DictValues:
    return representItems(context, items, "dict_values([", "])", out);
  case Sequence::Type::DictItems:
    return representItems(context, items, "dict_items([", "])", out);
  case Sequence::Type::Range:
    context.fail("printing a range is not supported; write it as a list");
    return;
  case Sequence::Type::Generator:
    context.fail("printing a generator is not supported; write it as a list");
    return;
  }
}

static void representMapping(Context &context, const Mapping &mapping,
                             Text &out) {
  out.append("{");
  bool first = true;
  for (const auto &[key, value] : mapping.entries) {
    out.append(first ? "" : ", ");
    first = false;
    represent(context, key, out);
    out.append(": ");
    represent(context, value, out);
  }
  out.append("}");
}

void represent(Context &context, const Value &value, Text &out) {
  if (!context.work(8 + (value.isString() ? value.text().size() : 0))) {
    return;
  }
  switch (value.kind()) {
  case Kind::Undefined:
    out.append("Undefined");
    return;
  case Kind::None:
    out.append("None");
    return;
  case Kind::Bool:
    out.append(value.boolean() ? "True" : "False");
    return;
  case Kind::Int:
    out.append(std::to_string(value.integer()));
    return;
  case Kind::BigInt:
    out.append(std::to_string(value.bigInteger()));
    return;
  case Kind::Float:
    out.append(formatFloat(value.number()));
    return;
  case Kind::String:
    representText(value.text(), out);
    return;
  case Kind::Sequence:
    representSequence(context, value.sequence(), out);
    return;
  case Kind::Mapping:
    representMapping(context, value.mapping(), out);
    return;
  default:
    context.fail("printing a " + value.typeName() + " is not supported");
  }
}

void print(Context &context, const Value &value, Text &out) {
  if (value.isUndefined()) {
    return;
  }
  if (!value.isString()) {
    represent(context, value, out);
  } else if (context.work(value.text().size())) {
    out.append(value.text());
  }
}

Text toText(Context &context, const Value &value) {
  if (value.isString()) {
    return value.text();
  }
  Text out;
  print(context, value, out);
  return out;
}

std::string toRepr(Context &context, const Value &value) {
  Text out;
  represent(context, value, out);
  return out.str();
}

Text escapeHtml(const Text &text) {
  Text out;
  for (size_t i = 0; i < text.size(); ++i) {
    bool fromData = text.fromDataAt(i);
    switch (text.str()[i]) {
    case '&':
      out.append("&amp;", fromData);
      break;
    case '<':
      out.append("&lt;", fromData);
      break;
    case '>':
      out.append("&gt;", fromData);
      break;
    case '\'':
      out.append("&#39;", fromData);
      break;
    case '"':
      out.append("&#34;", fromData);
      break;
    default:
      out.append(text, i, i + 1);
    }
  }
  return out;
}

} // namespace quire::jinja
