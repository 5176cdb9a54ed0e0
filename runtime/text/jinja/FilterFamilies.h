// The filter tables, one per file of filters.

#ifndef QUIRE_RUNTIME_TEXT_JINJA_FILTERFAMILIES_H
#define QUIRE_RUNTIME_TEXT_JINJA_FILTERFAMILIES_H

#include "runtime/text/jinja/Builtins.h"

#include <span>

namespace quire::jinja {

std::span<const BuiltinEntry> textFilters();
std::span<const BuiltinEntry> numberFilters();
std::span<const BuiltinEntry> sequenceFilters();
std::span<const BuiltinEntry> selectionFilters();

/// `path` applied to an item: "a.b.0" is item['a']['b'][0].
Value followPath(Context &context, Value item, const Value &path);

} // namespace quire::jinja

#endif
