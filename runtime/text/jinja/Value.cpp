#include "runtime/text/jinja/Value.h"

#include <algorithm>

namespace quire::jinja {

const Value *Mapping::find(const std::string &key) const {
  auto place = index.find(key);
  return place == index.end() ? nullptr : &entries[place->second].second;
}

const Value *Mapping::find(const Value &key) const {
  if (key.isString()) {
    return find(key.string());
  }
  for (const auto &[k, v] : entries) {
    if (!k.isString() && equals(k, key)) {
      return &v;
    }
  }
  return nullptr;
}

void Mapping::set(Value key, Value value) {
  weight += key.weight() + value.weight();
  depth = std::max({depth, key.depth() + 1, value.depth() + 1});
  if (const Value *present = find(key)) {
    *const_cast<Value *>(present) = std::move(value);
    return;
  }
  if (key.isString()) {
    index.emplace(key.string(), entries.size());
  }
  entries.emplace_back(std::move(key), std::move(value));
}

int Value::depth() const {
  switch (kind()) {
  case Kind::Sequence:
    return sequence().depth;
  case Kind::Mapping:
    return mapping().depth;
  case Kind::Callable:
    return callable().depth;
  default:
    return 0;
  }
}

size_t Value::weight() const {
  switch (kind()) {
  case Kind::String:
    return 1 + text().size() / 64;
  case Kind::Sequence:
    return sequence().weight;
  case Kind::Mapping:
    return mapping().weight;
  default:
    return 1;
  }
}

bool Value::truthy() const {
  switch (kind()) {
  case Kind::Undefined:
  case Kind::None:
    return false;
  case Kind::Bool:
    return boolean();
  case Kind::Int:
    return integer() != 0;
  case Kind::Float:
    return number() != 0;
  case Kind::String:
    return !text().empty();
  case Kind::Sequence:
    return sequence().type == Sequence::Type::Generator ||
           !sequence().items.empty();
  case Kind::Mapping:
    return !mapping().entries.empty();
  default:
    return true;
  }
}

std::string Value::typeName() const {
  switch (kind()) {
  case Kind::Undefined:
    return "Undefined";
  case Kind::None:
    return "NoneType";
  case Kind::Bool:
    return "bool";
  case Kind::Int:
  case Kind::BigInt:
    return "int";
  case Kind::Float:
    return "float";
  case Kind::String:
    return "str";
  case Kind::Mapping:
    return "dict";
  case Kind::Callable:
    return "function";
  case Kind::Namespace:
    return "Namespace";
  case Kind::Loop:
    return "LoopContext";
  case Kind::Sequence:
    break;
  }
  switch (sequence().type) {
  case Sequence::Type::List:
    return "list";
  case Sequence::Type::Tuple:
    return "tuple";
  case Sequence::Type::Range:
    return "range";
  case Sequence::Type::DictKeys:
    return "dict_keys";
  case Sequence::Type::DictValues:
    return "dict_values";
  case Sequence::Type::DictItems:
    return "dict_items";
  case Sequence::Type::Generator:
    return "generator";
  }
  return "object";
}

Value *Namespace::find(std::string_view name) {
  for (auto &[key, value] : fields) {
    if (key == name) {
      return &value;
    }
  }
  return nullptr;
}

static bool equalSequences(const Value &left, const Value &right) {
  const Sequence &a = left.sequence();
  const Sequence &b = right.sequence();
  if (a.type != b.type || a.items.size() != b.items.size()) {
    return false;
  }
  if (a.type == Sequence::Type::Generator) {
    return &a == &b;
  }
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (!equals(a.items[i], b.items[i])) {
      return false;
    }
  }
  return true;
}

static bool equalMappings(const Mapping &a, const Mapping &b) {
  if (a.entries.size() != b.entries.size()) {
    return false;
  }
  for (const auto &[key, value] : a.entries) {
    const Value *other = b.find(key);
    if (!other || !equals(value, *other)) {
      return false;
    }
  }
  return true;
}

bool equals(const Value &a, const Value &b) {
  if (a.isInteger() && b.isInteger()) {
    return a.integer() == b.integer();
  }
  if (a.isNumber() && b.isNumber()) {
    return a.number() == b.number();
  }
  if (a.kind() != b.kind()) {
    return false;
  }
  switch (a.kind()) {
  case Kind::Undefined:
  case Kind::None:
    return true;
  case Kind::BigInt:
    return a.bigInteger() == b.bigInteger();
  case Kind::String:
    return a.string() == b.string();
  case Kind::Sequence:
    return equalSequences(a, b);
  case Kind::Mapping:
    return equalMappings(a.mapping(), b.mapping());
  case Kind::Callable:
    return &a.callable() == &b.callable();
  case Kind::Namespace:
    return &a.ns() == &b.ns();
  case Kind::Loop:
    return &a.loop() == &b.loop();
  default:
    return false;
  }
}

} // namespace quire::jinja
