// The state of one rendering that every operation shares: the first error, the
// limits that keep a hostile template from running or growing without bound,
// and the owner of what can change (namespaces, loops).
//
// Errors are sticky. `fail` records the first message and every later
// evaluation becomes a cheap no-op, so operations return plain values and need
// no check after each step; whoever drives the rendering asks `status()` once.

#ifndef QUIRE_RUNTIME_TEXT_JINJA_CONTEXT_H
#define QUIRE_RUNTIME_TEXT_JINJA_CONTEXT_H

#include "runtime/text/jinja/Value.h"

#include "absl/status/status.h"

#include <ctime>
#include <deque>
#include <functional>
#include <optional>

namespace quire::jinja {

struct Limits {
  /// Expressions and statements evaluated, items iterated.
  size_t steps = 20'000'000;
  /// Bytes of text made or scanned and of containers built, in all; so also a
  /// bound on what lives at once.
  size_t work = size_t(512) << 20;
  /// Bytes of one string, the rendered text included.
  size_t textBytes = size_t(64) << 20;
  /// Nested evaluations; a macro call takes about six.
  int evaluations = 1500;
  /// Levels of lists within lists.
  int containers = 200;
  /// Walking one value (Value::weight).
  size_t weight = 4'000'000;
};

class Context {
public:
  explicit Context(Limits limits) : limits(limits) {}

  /// Records the first error, at the current line. Returns an undefined value.
  Value fail(std::string message);
  /// The same for a limit that was reached.
  Value exhausted(std::string message);
  bool failed() const { return !error.ok(); }
  const absl::Status &status() const { return error; }

  /// Accounts for work about to be done; false (and an error) when the
  /// rendering has used up its share.
  bool step(size_t count = 1);
  bool work(size_t bytes);

  Value text(Text value);
  Value text(std::string_view bytes, bool fromData = false) {
    return text(Text(bytes, fromData));
  }
  Value sequence(Sequence::Type type, std::vector<Value> items);
  Value list(std::vector<Value> items) {
    return sequence(Sequence::Type::List, std::move(items));
  }
  Value tuple(std::vector<Value> items) {
    return sequence(Sequence::Type::Tuple, std::move(items));
  }
  Value mapping(Mapping entries);
  Value undefined(std::string message);
  Value function(std::string name,
                 std::function<Value(Context &, const Arguments &)> call,
                 int depth = 1);
  Namespace *newNamespace();
  Loop *newLoop();

  /// The time that strftime_now formats.
  std::function<std::tm()> clock;
  int line = 0;
  int depth = 0;
  Limits limits;

private:
  absl::Status error;
  size_t stepsTaken = 0;
  size_t workDone = 0;
  std::deque<Namespace> namespaces;
  std::deque<Loop> loops;
};

/// Raises Python's UndefinedError for an undefined value.
Value failUndefined(Context &context, const Value &value);

/// The items of an iterable (keys of a dict, characters of a string); nothing,
/// with an error, if Python could not iterate it. Uses up a generator.
std::optional<std::vector<Value>> iterate(Context &context, const Value &value);

/// `object.name` and `object[key]`, as the sandbox resolves them.
Value getAttribute(Context &context, const Value &object,
                   const std::string &name);
Value getItem(Context &context, const Value &object, const Value &key);

Value call(Context &context, const Value &callee, const Arguments &arguments);

} // namespace quire::jinja

#endif
