#include "runtime/text/jinja/Json.h"
#include "runtime/text/jinja/MergeSort.h"
#include "runtime/text/jinja/Print.h"
#include "runtime/text/jinja/Unicode.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace quire::jinja {

namespace {

bool isPlainWord(const std::string &text) {
  return !text.empty() && text.size() <= 32 &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

class Reader {
public:
  Reader(Context &context, bool fromData)
      : context(context), fromData(fromData) {}

  Value read(const nlohmann::ordered_json &json, int depth) {
    if (depth > context.limits.containers) {
      return context.fail("the conversation's JSON is nested too deeply");
    }
    using Type = nlohmann::ordered_json::value_t;
    switch (json.type()) {
    case Type::string:
      return context.text(json.get_ref<const std::string &>(), fromData);
    case Type::boolean:
      return Value(json.get<bool>());
    case Type::number_integer:
      return Value(json.get<int64_t>());
    case Type::number_unsigned: {
      auto number = json.get<uint64_t>();
      if (number > INT64_MAX) {
        return Value(number);
      }
      return Value(static_cast<int64_t>(number));
    }
    case Type::number_float:
      return Value(json.get<double>());
    case Type::array: {
      std::vector<Value> items;
      for (const auto &item : json) {
        items.push_back(read(item, depth + 1));
      }
      return context.list(std::move(items));
    }
    case Type::object:
      return readObject(json, depth);
    default:
      return Value(None());
    }
  }

private:
  Value readObject(const nlohmann::ordered_json &json, int depth) {
    Mapping mapping;
    for (const auto &[key, item] : json.items()) {
      bool trusted = key == "role" && item.is_string() &&
                     isPlainWord(item.get_ref<const std::string &>());
      mapping.set(Value::text(key, fromData),
                  trusted
                      ? Value::text(item.get_ref<const std::string &>(), false)
                      : read(item, depth + 1));
    }
    return context.mapping(std::move(mapping));
  }

  Context &context;
  bool fromData;
};

class Writer {
public:
  Writer(Context &context, const JsonStyle &style)
      : context(context), style(style) {}

  void write(const Value &value, int level) {
    if (!context.work(8)) {
      return;
    }
    switch (value.kind()) {
    case Kind::None:
      out.append("null");
      return;
    case Kind::Bool:
      out.append(value.boolean() ? "true" : "false");
      return;
    case Kind::Int:
    case Kind::BigInt:
      print(context, value, out);
      return;
    case Kind::Float:
      out.append(number(value.number()));
      return;
    case Kind::String:
      writeString(value.text());
      return;
    case Kind::Mapping:
      writeObject(value.mapping(), level);
      return;
    case Kind::Sequence:
      if (value.isSequence(Sequence::Type::List) ||
          value.isSequence(Sequence::Type::Tuple)) {
        writeArray(value.sequence().items, level);
        return;
      }
      break;
    default:
      break;
    }
    context.fail("Object of type " + value.typeName() +
                 " is not JSON serializable");
  }

  Text out;

private:
  static std::string number(double value) {
    if (std::isnan(value)) {
      return "NaN";
    }
    if (std::isinf(value)) {
      return value < 0 ? "-Infinity" : "Infinity";
    }
    return formatFloat(value);
  }

  void newLine(int level) {
    if (style.indent) {
      std::string space = "\n";
      for (int i = 0; i < level; ++i) {
        space += *style.indent;
      }
      context.work(space.size());
      out.append(space);
    }
  }

  void writeArray(const std::vector<Value> &items, int level) {
    out.append("[");
    for (size_t i = 0; i < items.size(); ++i) {
      out.append(i ? style.itemSeparator : "");
      newLine(level + 1);
      write(items[i], level + 1);
    }
    if (!items.empty()) {
      newLine(level);
    }
    out.append("]");
  }

  void writeObject(const Mapping &mapping, int level) {
    std::vector<const std::pair<Value, Value> *> entries;
    for (const auto &entry : mapping.entries) {
      entries.push_back(&entry);
    }
    if (style.sortKeys) {
      mergeSort(entries, [](auto *a, auto *b) {
        return a->first.isString() && b->first.isString() &&
               a->first.string() < b->first.string();
      });
    }
    out.append("{");
    bool first = true;
    for (const auto *entry : entries) {
      out.append(first ? "" : style.itemSeparator);
      first = false;
      newLine(level + 1);
      writeKey(entry->first);
      out.append(style.keySeparator);
      write(entry->second, level + 1);
    }
    if (!entries.empty()) {
      newLine(level);
    }
    out.append("}");
  }

  void writeKey(const Value &key) {
    switch (key.kind()) {
    case Kind::String:
      writeString(key.text());
      return;
    case Kind::None:
    case Kind::Bool:
    case Kind::Int:
    case Kind::Float:
      out.append("\"");
      write(key, 0);
      out.append("\"");
      return;
    default:
      context.fail("keys must be str, int, float, bool or None, not " +
                   key.typeName());
    }
  }

  void writeString(const Text &text) {
    if (!context.work(text.size())) {
      return;
    }
    out.append("\"");
    for (size_t i = 0; i < text.size();) {
      size_t start = i;
      char32_t c = decodeNext(text.str(), i);
      std::string escaped = escape(c);
      if (escaped.empty()) {
        out.append(text, start, i);
      } else {
        out.append(escaped, text.fromDataAt(start));
      }
    }
    out.append("\"");
  }

  /// The escape of a character, empty if it stands for itself.
  std::string escape(char32_t c) const {
    switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    default:
      break;
    }
    if (c >= 0x20 && (c <= 0x7f || !style.ensureAscii)) {
      return "";
    }
    if (c >= 0x10000) {
      c -= 0x10000;
      return unit(0xd800 + (c >> 10)) + unit(0xdc00 + (c & 0x3ff));
    }
    return unit(c);
  }

  static std::string unit(char32_t c) {
    char buffer[8];
    std::snprintf(buffer, sizeof(buffer), "\\u%04x", static_cast<unsigned>(c));
    return buffer;
  }

  Context &context;
  const JsonStyle &style;
};

} // namespace

Value fromJson(Context &context, const nlohmann::ordered_json &json,
               bool fromData) {
  return Reader(context, fromData).read(json, 0);
}

Value toJson(Context &context, const Value &value, const JsonStyle &style) {
  Writer writer(context, style);
  writer.write(value, 0);
  return context.text(std::move(writer.out));
}

} // namespace quire::jinja
