// Filters, tests, methods and global functions, each a plain function looked
// up by name in one table per family. Names that Jinja2 knows and we do not
// are listed too, so that a template using them is refused when it is loaded.

#ifndef QUIRE_RUNTIME_TEXT_JINJA_BUILTINS_H
#define QUIRE_RUNTIME_TEXT_JINJA_BUILTINS_H

#include "runtime/text/jinja/Context.h"

#include <array>
#include <string>
#include <string_view>

namespace quire::jinja {

/// `self` is the filter's or test's input, or the method's object.
using Builtin = Value (*)(Context &, const Value &self, const Arguments &);

struct BuiltinEntry {
  std::string_view name;
  Builtin function;
};

Builtin findFilter(std::string_view name);
Builtin findTest(std::string_view name);
Builtin findTextMethod(std::string_view name);
Builtin findMappingMethod(std::string_view name);
Builtin findSequenceMethod(std::string_view name);
/// Undefined if there is no such global.
Value findGlobal(Context &context, const std::string &name);

/// Names of Jinja2 or Python that are refused at load.
bool isUnsupportedFilter(std::string_view name);
bool isUnsupportedGlobal(std::string_view name);
bool isUnsupportedMethod(std::string_view name);

/// The arguments of a builtin by position or name. `ok()` is false (and the
/// error recorded) if there are too many, or one has an unknown name.
class Parameters {
public:
  Parameters(Context &context, const Arguments &arguments,
             std::initializer_list<std::string_view> names);
  bool ok() const { return good; }
  bool has(size_t i) const { return values[i] != nullptr; }
  const Value &operator[](size_t i) const;
  /// The argument as a type, or a default if it was not given; a wrong type
  /// is an error.
  int64_t integer(size_t i, int64_t otherwise);
  bool flag(size_t i, bool otherwise) const;
  Text text(size_t i, std::string_view otherwise);

private:
  Context &context;
  std::array<const Value *, 8> values{};
  bool good = true;
};

/// The number of items or characters; an error if Python has none.
Value lengthOf(Context &context, const Value &value);

/// Python's ordering, for <, sort, min and max. An error for types that have
/// none between them.
bool lessThan(Context &context, const Value &a, const Value &b,
              std::string_view shownOperator = "<");
/// Python's `item in container`.
bool contains(Context &context, const Value &container, const Value &item);
/// Python's arithmetic: + - * / // % **.
Value arithmetic(Context &context, std::string_view op, const Value &a,
                 const Value &b);
/// Python's `format % arguments`.
Value formatPercent(Context &context, const Text &format,
                    const Arguments &arguments);
/// Python's format.format(...).
Value formatBraces(Context &context, const Text &format,
                   const Arguments &arguments);
/// `container[start:stop:step]`; absent bounds are None.
Value sliceOf(Context &context, const Value &container, const Value &start,
              const Value &stop, const Value &step);

} // namespace quire::jinja

#endif
