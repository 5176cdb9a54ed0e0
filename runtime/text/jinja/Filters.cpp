#include "runtime/text/jinja/FilterFamilies.h"

#include <algorithm>

namespace quire::jinja {

Builtin findFilter(std::string_view name) {
  for (auto family : {textFilters(), numberFilters(), sequenceFilters(),
                      selectionFilters()}) {
    for (const BuiltinEntry &entry : family) {
      if (entry.name == name) {
        return entry.function;
      }
    }
  }
  return nullptr;
}

bool isUnsupportedFilter(std::string_view name) {
  static constexpr std::string_view names[] = {
      "filesizeformat", "pprint", "random",   "striptags", "truncate",
      "urlencode",      "urlize", "wordwrap", "xmlattr",   "groupby"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

} // namespace quire::jinja
