#include "frontends/formats/Json.h"

#include "frontends/formats/StrCat.h"

#include "nlohmann/json.hpp"

using nlohmann::json;

namespace quire {

namespace {

/// Null when the field is absent or null, or `object` is no object.
const json *lookUp(const json &object, std::string_view field) {
  if (!object.is_object()) {
    return nullptr;
  }
  auto entry = object.find(field);
  return entry == object.end() || entry->is_null() ? nullptr : &*entry;
}

absl::Status missing(std::string_view field) {
  return absl::NotFoundError(strCat("the field '", field, "' is missing"));
}

absl::Status wrongType(std::string_view field, std::string_view wanted,
                       const json &found) {
  return absl::InvalidArgumentError(
      strCat("the field '", field, "' must be ", wanted, ", but is ",
             found.is_number_float()     ? "a number with a fraction"
             : found.is_number_integer() ? "an integer"
                                         : found.type_name()));
}

absl::StatusOr<int64_t> asInt(const json &value, std::string_view field,
                              IntRange range) {
  if (!value.is_number_integer()) {
    return wrongType(field, "an integer", value);
  }
  bool fits = !value.is_number_unsigned() ||
              value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX);
  int64_t number = fits ? value.get<int64_t>() : 0;
  if (!fits || number < range.lowest || number > range.highest) {
    return absl::OutOfRangeError(strCat("the field '", field, "' is ",
                                        value.dump(), ", outside ",
                                        range.lowest, " to ", range.highest));
  }
  return number;
}

absl::StatusOr<double> asFloat(const json &value, std::string_view field) {
  if (!value.is_number()) {
    return wrongType(field, "a number", value);
  }
  return value.get<double>();
}

absl::StatusOr<bool> asBool(const json &value, std::string_view field) {
  if (!value.is_boolean()) {
    return wrongType(field, "true or false", value);
  }
  return value.get<bool>();
}

absl::StatusOr<std::string> asString(const json &value,
                                     std::string_view field) {
  if (!value.is_string()) {
    return wrongType(field, "a string", value);
  }
  return value.get_ref<const std::string &>();
}

absl::StatusOr<const json *> asObject(const json &value,
                                      std::string_view field) {
  if (!value.is_object()) {
    return wrongType(field, "an object", value);
  }
  return &value;
}

absl::StatusOr<const json *> asArray(const json &value,
                                     std::string_view field) {
  if (!value.is_array()) {
    return wrongType(field, "an array", value);
  }
  return &value;
}

template <typename Convert, typename... Extra>
auto get(const json &object, std::string_view field, Convert convert,
         Extra... extra) -> decltype(convert(object, field, extra...)) {
  const json *value = lookUp(object, field);
  if (!value) {
    return missing(field);
  }
  return convert(*value, field, extra...);
}

/// The converted value, or a default-constructed Found when there is none.
template <typename Found, typename Convert, typename... Extra>
absl::StatusOr<Found> find(const json &object, std::string_view field,
                           Convert convert, Extra... extra) {
  const json *value = lookUp(object, field);
  if (!value) {
    return Found();
  }
  auto converted = convert(*value, field, extra...);
  if (!converted.ok()) {
    return converted.status();
  }
  return Found(*std::move(converted));
}

} // namespace

absl::StatusOr<int64_t> getInt(const json &object, std::string_view field,
                               IntRange range) {
  return get(object, field, asInt, range);
}
absl::StatusOr<double> getFloat(const json &object, std::string_view field) {
  return get(object, field, asFloat);
}
absl::StatusOr<bool> getBool(const json &object, std::string_view field) {
  return get(object, field, asBool);
}
absl::StatusOr<std::string> getString(const json &object,
                                      std::string_view field) {
  return get(object, field, asString);
}
absl::StatusOr<const json *> getObject(const json &object,
                                       std::string_view field) {
  return get(object, field, asObject);
}
absl::StatusOr<const json *> getArray(const json &object,
                                      std::string_view field) {
  return get(object, field, asArray);
}

absl::StatusOr<std::optional<int64_t>>
findInt(const json &object, std::string_view field, IntRange range) {
  return find<std::optional<int64_t>>(object, field, asInt, range);
}
absl::StatusOr<std::optional<double>> findFloat(const json &object,
                                                std::string_view field) {
  return find<std::optional<double>>(object, field, asFloat);
}
absl::StatusOr<std::optional<bool>> findBool(const json &object,
                                             std::string_view field) {
  return find<std::optional<bool>>(object, field, asBool);
}
absl::StatusOr<std::optional<std::string>> findString(const json &object,
                                                      std::string_view field) {
  return find<std::optional<std::string>>(object, field, asString);
}
absl::StatusOr<const json *> findObject(const json &object,
                                        std::string_view field) {
  return find<const json *>(object, field, asObject);
}
absl::StatusOr<const json *> findArray(const json &object,
                                       std::string_view field) {
  return find<const json *>(object, field, asArray);
}

} // namespace quire
