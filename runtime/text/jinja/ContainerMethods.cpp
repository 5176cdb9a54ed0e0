// The methods of dict, list and tuple that change nothing.

#include "runtime/text/jinja/Builtins.h"

#include "absl/strings/str_cat.h"

namespace quire::jinja {

namespace {

using Args = const Arguments &;

Value get(Context &context, const Value &self, Args args) {
  if (args.positional.empty() || args.positional.size() > 2 ||
      !args.named.empty()) {
    return context.fail("dict.get takes one or two arguments");
  }
  const Value &key = args.positional[0];
  if (key.is(Kind::Mapping) || key.isSequence(Sequence::Type::List)) {
    return context.fail(
        absl::StrCat("unhashable type: '", key.typeName(), "'"));
  }
  if (const Value *found = self.mapping().find(key)) {
    return *found;
  }
  return args.positional.size() == 2 ? args.positional[1] : Value(None());
}

template <Sequence::Type type>
Value view(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {});
  std::vector<Value> items;
  if (!context.step(self.mapping().entries.size())) {
    return Value();
  }
  for (const auto &[key, value] : self.mapping().entries) {
    items.push_back(type == Sequence::Type::DictKeys ? key
                    : type == Sequence::Type::DictValues
                        ? value
                        : context.tuple({key, value}));
  }
  return context.sequence(type, std::move(items));
}

Value copy(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {});
  return self;
}

Value count(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"value"});
  int64_t found = 0;
  context.work(self.weight() * 64);
  for (const Value &item : self.sequence().items) {
    found += equals(item, p[0]);
  }
  return Value(found);
}

Value indexOf(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"value"});
  context.work(self.weight() * 64);
  const auto &items = self.sequence().items;
  for (size_t i = 0; i < items.size(); ++i) {
    if (equals(items[i], p[0])) {
      return Value(static_cast<int64_t>(i));
    }
  }
  return context.fail("the value is not in the list");
}

} // namespace

Builtin findMappingMethod(std::string_view name) {
  static constexpr BuiltinEntry methods[] = {
      {"copy", copy},
      {"get", get},
      {"items", view<Sequence::Type::DictItems>},
      {"keys", view<Sequence::Type::DictKeys>},
      {"values", view<Sequence::Type::DictValues>},
  };
  for (const BuiltinEntry &entry : methods) {
    if (entry.name == name) {
      return entry.function;
    }
  }
  return nullptr;
}

Builtin findSequenceMethod(std::string_view name) {
  if (name == "count") {
    return count;
  }
  if (name == "index") {
    return indexOf;
  }
  return name == "copy" ? copy : nullptr;
}

} // namespace quire::jinja
