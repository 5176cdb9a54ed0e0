#include "runtime/text/jinja/Context.h"
#include "runtime/text/jinja/Unicode.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace quire::jinja {

Value Context::fail(std::string message) {
  if (error.ok()) {
    error = absl::InvalidArgumentError(
        line > 0 ? absl::StrCat("line ", line, ": ", message) : message);
  }
  return Value();
}

Value Context::exhausted(std::string message) {
  if (error.ok()) {
    error = absl::ResourceExhaustedError(
        absl::StrCat("line ", line, ": the template ", message));
  }
  return Value();
}

bool Context::step(size_t count) {
  stepsTaken += count;
  if (stepsTaken > limits.steps) {
    exhausted("ran for too many steps");
  }
  return !failed();
}

bool Context::work(size_t bytes) {
  if (bytes > limits.work - std::min(workDone, limits.work)) {
    exhausted("built too much text");
    return false;
  }
  workDone += bytes;
  return !failed();
}

Value Context::text(Text value) {
  if (value.size() > limits.textBytes) {
    return exhausted("made a string that is too long");
  }
  if (!work(value.size() + sizeof(Text) +
            value.runs().size() * sizeof(Text::Run))) {
    return Value();
  }
  return Value(Value::TextPtr(std::make_shared<Text>(std::move(value))));
}

Value Context::sequence(Sequence::Type type, std::vector<Value> items) {
  auto result = std::make_shared<Sequence>();
  result->type = type;
  for (const Value &item : items) {
    result->depth = std::max(result->depth, item.depth() + 1);
    result->weight += item.weight();
  }
  if (result->depth > limits.containers || result->weight > limits.weight) {
    return exhausted("nested or filled a list too far");
  }
  if (!work(sizeof(Sequence) + items.size() * sizeof(Value))) {
    return Value();
  }
  result->items = std::move(items);
  return Value(Value::SequencePtr(std::move(result)));
}

Value Context::mapping(Mapping entries) {
  if (entries.depth > limits.containers || entries.weight > limits.weight) {
    return exhausted("nested or filled a dict too far");
  }
  if (!work(sizeof(Mapping) + entries.entries.size() * 4 * sizeof(Value))) {
    return Value();
  }
  return Value(
      Value::MappingPtr(std::make_shared<Mapping>(std::move(entries))));
}

Value Context::undefined(std::string message) {
  work(sizeof(Undefined) + message.size());
  return Value(Value::UndefinedPtr(
      std::make_shared<Undefined>(Undefined{std::move(message)})));
}

Value Context::function(std::string name,
                        std::function<Value(Context &, const Arguments &)> call,
                        int depth) {
  work(2 * sizeof(Callable));
  return Value(Value::CallablePtr(std::make_shared<Callable>(
      Callable{std::move(name), std::move(call), depth})));
}

Namespace *Context::newNamespace() {
  work(2 * sizeof(Namespace));
  return &namespaces.emplace_back();
}

Loop *Context::newLoop() {
  work(2 * sizeof(Loop));
  return &loops.emplace_back();
}

Value failUndefined(Context &context, const Value &value) {
  const Undefined *info = value.undefined();
  return context.fail(info ? info->message : "a value is undefined");
}

static std::vector<Value> characters(Context &context, const Text &text) {
  std::vector<Value> result;
  for (size_t i = 0; i < text.size();) {
    size_t next = i;
    decodeNext(text.str(), next);
    if (!context.step()) {
      return {};
    }
    result.push_back(context.text(text.slice(i, next)));
    i = next;
  }
  return result;
}

std::optional<std::vector<Value>> iterate(Context &context,
                                          const Value &value) {
  switch (value.kind()) {
  case Kind::Undefined:
    return std::vector<Value>();
  case Kind::String:
    return characters(context, value.text());
  case Kind::Sequence: {
    const Sequence &sequence = value.sequence();
    context.work(sequence.items.size() * sizeof(Value));
    if (sequence.type != Sequence::Type::Generator) {
      return sequence.items;
    }
    std::vector<Value> rest(sequence.items.begin() +
                                static_cast<ptrdiff_t>(sequence.next),
                            sequence.items.end());
    sequence.next = sequence.items.size();
    return rest;
  }
  case Kind::Mapping: {
    std::vector<Value> keys;
    context.work(value.mapping().entries.size() * sizeof(Value));
    for (const auto &[key, item] : value.mapping().entries) {
      keys.push_back(key);
    }
    return keys;
  }
  default:
    context.fail(
        absl::StrCat("'", value.typeName(), "' object is not iterable"));
    return std::nullopt;
  }
}

Value call(Context &context, const Value &callee, const Arguments &arguments) {
  if (context.failed()) {
    return Value();
  }
  if (callee.isUndefined()) {
    return failUndefined(context, callee);
  }
  if (!callee.is(Kind::Callable)) {
    return context.fail(
        absl::StrCat("'", callee.typeName(), "' object is not callable"));
  }
  return callee.callable().call(context, arguments);
}

} // namespace quire::jinja
