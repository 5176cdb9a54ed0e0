// Python's str() and repr() of values.

#ifndef QUIRE_RUNTIME_TEXT_JINJA_PRINT_H
#define QUIRE_RUNTIME_TEXT_JINJA_PRINT_H

#include "runtime/text/jinja/Context.h"

namespace quire::jinja {

/// str(value), appended to `out`.
void print(Context &context, const Value &value, Text &out);
Text toText(Context &context, const Value &value);

/// repr(value), appended to `out`.
void represent(Context &context, const Value &value, Text &out);
std::string toRepr(Context &context, const Value &value);
std::string quoted(std::string_view text);

/// repr(float): the shortest digits that read back as the same value.
std::string formatFloat(double value);

/// The text with each character that HTML reserves written as an entity.
Text escapeHtml(const Text &text);

} // namespace quire::jinja

#endif
