// The values of the template language, with Python's types and rules. Values
// are immutable once made (the sandbox that chat templates run in forbids
// changing lists and dicts), so containers know their nesting depth and no
// cycle can form through them. Namespaces and loops, which do change, belong
// to the Context of one rendering and are pointed to.

#ifndef QUIRE_RUNTIME_TEXT_JINJA_VALUE_H
#define QUIRE_RUNTIME_TEXT_JINJA_VALUE_H

#include "runtime/text/jinja/Text.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace quire::jinja {

class Context;
class Value;
struct Arguments;
struct Loop;
struct Namespace;

struct None {};

/// What touching an undefined value says.
struct Undefined {
  std::string message;
};

/// Everything Python iterates by position. Only lists, tuples and ranges can
/// be indexed; a generator is truthy even if empty, has no length and yields
/// each item once: `next` is its place.
struct Sequence {
  enum class Type {
    List,
    Tuple,
    Range,
    DictKeys,
    DictValues,
    DictItems,
    Generator
  };
  Type type = Type::List;
  std::vector<Value> items;
  int depth = 1;
  size_t weight = 1;
  mutable size_t next = 0;

  bool indexable() const { return type <= Type::Range; }
};

/// A dict: insertion order, string keys found through an index.
struct Mapping {
  std::vector<std::pair<Value, Value>> entries;
  std::unordered_map<std::string, size_t> index;
  int depth = 1;
  size_t weight = 1;

  const Value *find(const Value &key) const;
  const Value *find(const std::string &key) const;
  void set(Value key, Value value);
};

struct Callable {
  std::string name;
  std::function<Value(Context &, const Arguments &)> call;
  int depth = 1;
};

enum class Kind {
  Undefined,
  None,
  Bool,
  Int,
  BigInt, ///< an integer of the data above int64: printed, never computed with
  Float,
  String,
  Sequence,
  Mapping,
  Callable,
  Namespace,
  Loop
};

class Value {
public:
  using UndefinedPtr = std::shared_ptr<const Undefined>;
  using TextPtr = std::shared_ptr<const Text>;
  using SequencePtr = std::shared_ptr<const Sequence>;
  using MappingPtr = std::shared_ptr<const Mapping>;
  using CallablePtr = std::shared_ptr<const Callable>;

  Value() : storage(UndefinedPtr()) {}
  template <typename T>
    requires std::is_constructible_v<
        std::variant<UndefinedPtr, None, bool, int64_t, uint64_t, double,
                     TextPtr, SequencePtr, MappingPtr, CallablePtr, Namespace *,
                     Loop *>,
        std::in_place_type_t<T>, T>
  Value(T value) : storage(std::in_place_type<T>, std::move(value)) {}
  static Value text(std::string_view bytes, bool fromData = false) {
    return Value(TextPtr(std::make_shared<Text>(bytes, fromData)));
  }

  Kind kind() const { return static_cast<Kind>(storage.index()); }
  bool is(Kind k) const { return kind() == k; }
  bool isUndefined() const { return is(Kind::Undefined); }
  bool isNone() const { return is(Kind::None); }
  bool isString() const { return is(Kind::String); }
  /// Bool counts as an integer, as in Python.
  bool isInteger() const { return is(Kind::Int) || is(Kind::Bool); }
  bool isNumber() const { return isInteger() || is(Kind::Float); }
  bool isSequence(Sequence::Type type) const {
    return is(Kind::Sequence) && sequence().type == type;
  }

  const Undefined *undefined() const {
    return std::get<UndefinedPtr>(storage).get();
  }
  bool boolean() const { return std::get<bool>(storage); }
  int64_t integer() const {
    return is(Kind::Bool) ? boolean() : std::get<int64_t>(storage);
  }
  uint64_t bigInteger() const { return std::get<uint64_t>(storage); }
  double number() const {
    return is(Kind::Float) ? std::get<double>(storage)
                           : static_cast<double>(integer());
  }
  const Text &text() const { return *std::get<TextPtr>(storage); }
  const std::string &string() const { return text().str(); }
  const Sequence &sequence() const { return *std::get<SequencePtr>(storage); }
  const Mapping &mapping() const { return *std::get<MappingPtr>(storage); }
  const Callable &callable() const { return *std::get<CallablePtr>(storage); }
  Namespace &ns() const { return *std::get<Namespace *>(storage); }
  Loop &loop() const { return *std::get<Loop *>(storage); }

  /// How deep containers nest below this value: 0 for a scalar.
  int depth() const;
  /// The work of walking the whole value once, shared parts counted as often
  /// as they are met (a list can hold itself twice at every level).
  size_t weight() const;
  /// Python's truth value.
  bool truthy() const;
  /// Python's name of the type, for messages: "str", "NoneType", ...
  std::string typeName() const;

private:
  std::variant<UndefinedPtr, None, bool, int64_t, uint64_t, double, TextPtr,
               SequencePtr, MappingPtr, CallablePtr, Namespace *, Loop *>
      storage;
};

struct Namespace {
  std::vector<std::pair<std::string, Value>> fields;
  Value *find(std::string_view name);
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

/// The `loop` of a running for loop.
struct Loop {
  std::vector<Value> items;
  size_t index = 0;
  int level = 0;
  bool hasChanged = false;
  std::vector<Value> lastChanged;
  std::function<Value(Context &, const Value &)> recurse;
};

/// Python's ==, at any depth.
bool equals(const Value &a, const Value &b);

} // namespace quire::jinja

#endif
