// Between JSON and the template's values: reading the conversation, and the
// `tojson` filter as Python's json.dumps writes it.

#ifndef QUIRE_RUNTIME_TEXT_JINJA_JSON_H
#define QUIRE_RUNTIME_TEXT_JINJA_JSON_H

#include "runtime/text/jinja/Context.h"

#include <nlohmann/json.hpp>

namespace quire::jinja {

/// The value of a JSON document. Strings and keys are marked as data if
/// `fromData`, but for the value of a key "role" that is a plain identifier:
/// many templates build their control tokens from it, and a word can forge
/// nothing.
Value fromJson(Context &context, const nlohmann::ordered_json &json,
               bool fromData);

struct JsonStyle {
  std::optional<std::string> indent; ///< per level; none: all on one line
  std::string itemSeparator = ", ";
  std::string keySeparator = ": ";
  bool ensureAscii = false;
  bool sortKeys = false;
};

Value toJson(Context &context, const Value &value, const JsonStyle &style);

} // namespace quire::jinja

#endif
