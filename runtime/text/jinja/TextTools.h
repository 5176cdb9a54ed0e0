// String operations that both methods and filters need, on text with
// provenance.

#ifndef QUIRE_RUNTIME_TEXT_JINJA_TEXTTOOLS_H
#define QUIRE_RUNTIME_TEXT_JINJA_TEXTTOOLS_H

#include "runtime/text/jinja/Context.h"

namespace quire::jinja {

/// Without leading and trailing white space, or characters of `set`.
Text strip(const Text &text, const Text *set, bool left, bool right);
Text replaceAll(Context &context, const Text &text, const Text &from,
                const Text &to, int64_t most);
Text upperCase(const Text &text);
Text lowerCase(const Text &text);
/// First letter large, the rest small.
Text capitalize(const Text &text);
/// Python's splitlines, line ends dropped.
std::vector<Text> splitLines(const Text &text);
Text spaces(int64_t count);

} // namespace quire::jinja

#endif
