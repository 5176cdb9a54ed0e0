#include "frontends/formats/GgufMetadata.h"

#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"

#include "nlohmann/json.hpp"

namespace quire {

namespace {

/// Reads one stored number as a Target (int64_t or double); nothing when it
/// is no number or, for int64_t, does not fit or has a fraction's type.
template <typename Target>
std::optional<Target> numberAt(GgufType type, const std::byte *at) {
  switch (type) {
  case GgufType::U8:
  case GgufType::Bool:
    return loadAs<uint8_t>(at);
  case GgufType::I8:
    return loadAs<int8_t>(at);
  case GgufType::U16:
    return loadAs<uint16_t>(at);
  case GgufType::I16:
    return loadAs<int16_t>(at);
  case GgufType::U32:
    return loadAs<uint32_t>(at);
  case GgufType::I32:
    return loadAs<int32_t>(at);
  case GgufType::I64:
    return static_cast<Target>(loadAs<int64_t>(at));
  case GgufType::U64: {
    uint64_t value = loadAs<uint64_t>(at);
    if (std::is_integral_v<Target> && value > INT64_MAX) {
      return std::nullopt;
    }
    return static_cast<Target>(value);
  }
  case GgufType::F32:
  case GgufType::F64:
    if constexpr (std::is_integral_v<Target>) {
      return std::nullopt;
    } else {
      return type == GgufType::F32 ? loadAs<float>(at) : loadAs<double>(at);
    }
  case GgufType::String:
  case GgufType::Array:
    return std::nullopt;
  }
  return std::nullopt;
}

std::string_view textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

absl::Status missing(std::string_view key) {
  return absl::NotFoundError(strCat("the metadata key '", key, "' is missing"));
}

absl::Status wrongType(std::string_view key, std::string_view wanted,
                       const GgufValue &value) {
  bool isArray = value.type == GgufType::Array;
  return absl::InvalidArgumentError(strCat(
      "the metadata key '", key, "' must be ", wanted, ", but is ",
      ggufTypeName(value.type), isArray ? " whose elements are each " : "",
      isArray ? ggufTypeName(value.elementType) : ""));
}

/// Calls `use` with each string of an array that reading has checked.
template <typename Use> void forEachString(const GgufValue &array, Use use) {
  ByteReader reader(array.bytes);
  for (uint64_t i = 0; i < array.count; ++i) {
    uint64_t length = 0;
    std::span<const std::byte> text;
    if (!reader.read(length) || !reader.take(length, text)) {
      return;
    }
    use(textOf(text));
  }
}

template <typename Target>
absl::StatusOr<std::vector<Target>> numbersOf(const GgufValue *array,
                                              std::string_view key,
                                              std::string_view wanted) {
  if (!array) {
    return missing(key);
  }
  if (array->type != GgufType::Array) {
    return wrongType(key, wanted, *array);
  }
  using Read = std::conditional_t<std::is_integral_v<Target>, int64_t, double>;
  size_t stride = ggufTypeBytes(array->elementType);
  std::vector<Target> numbers;
  numbers.reserve(stride ? array->count : 0);
  for (uint64_t i = 0; i < array->count; ++i) {
    std::optional<Read> number =
        numberAt<Read>(array->elementType, array->bytes.data() + i * stride);
    if (!number) {
      return wrongType(key, wanted, *array);
    }
    numbers.push_back(static_cast<Target>(*number));
  }
  return numbers;
}

nlohmann::json scalarToJson(GgufType type, const std::byte *at) {
  switch (type) {
  case GgufType::Bool:
    return loadAs<uint8_t>(at) != 0;
  case GgufType::U64:
    return loadAs<uint64_t>(at);
  case GgufType::F32:
  case GgufType::F64:
    return *numberAt<double>(type, at);
  default:
    return *numberAt<int64_t>(type, at);
  }
}

nlohmann::json valueToJson(const GgufValue &value) {
  if (value.type == GgufType::String) {
    return toValidUtf8(textOf(value.bytes));
  }
  if (value.type != GgufType::Array) {
    return scalarToJson(value.type, value.bytes.data());
  }
  nlohmann::json array = nlohmann::json::array();
  if (value.elementType == GgufType::String) {
    forEachString(value, [&](std::string_view text) {
      array.push_back(toValidUtf8(text));
    });
    return array;
  }
  size_t stride = ggufTypeBytes(value.elementType);
  for (uint64_t i = 0; i < value.count; ++i) {
    array.push_back(
        scalarToJson(value.elementType, value.bytes.data() + i * stride));
  }
  return array;
}

} // namespace

const GgufValue *GgufMetadata::find(std::string_view key) const {
  auto entry = values.find(key);
  return entry == values.end() ? nullptr : &entry->second;
}

absl::StatusOr<int64_t> GgufMetadata::getInt(std::string_view key,
                                             int64_t lowest,
                                             int64_t highest) const {
  const GgufValue *value = find(key);
  if (!value) {
    return missing(key);
  }
  if (ggufTypeName(value->type) != ggufTypeName(GgufType::I64)) {
    return wrongType(key, "an integer", *value);
  }
  std::optional<int64_t> number =
      numberAt<int64_t>(value->type, value->bytes.data());
  if (!number || *number < lowest || *number > highest) {
    return absl::OutOfRangeError(
        strCat("the metadata key '", key, "' is ",
               number ? strCat(*number) : "2^63 or more", ", outside ", lowest,
               " to ", highest));
  }
  return *number;
}

absl::StatusOr<double> GgufMetadata::getFloat(std::string_view key) const {
  const GgufValue *value = find(key);
  if (!value) {
    return missing(key);
  }
  std::optional<double> number =
      numberAt<double>(value->type, value->bytes.data());
  if (!number || value->type == GgufType::Bool) {
    return wrongType(key, "a number", *value);
  }
  return *number;
}

absl::StatusOr<bool> GgufMetadata::getBool(std::string_view key) const {
  const GgufValue *value = find(key);
  if (!value) {
    return missing(key);
  }
  if (value->type != GgufType::Bool) {
    return wrongType(key, "a boolean", *value);
  }
  return value->bytes[0] != std::byte{0};
}

absl::StatusOr<std::string_view>
GgufMetadata::getString(std::string_view key) const {
  const GgufValue *value = find(key);
  if (!value) {
    return missing(key);
  }
  if (value->type != GgufType::String) {
    return wrongType(key, "a string", *value);
  }
  return textOf(value->bytes);
}

absl::StatusOr<std::vector<std::string_view>>
GgufMetadata::getStrings(std::string_view key) const {
  const GgufValue *value = find(key);
  if (!value) {
    return missing(key);
  }
  if (value->type != GgufType::Array ||
      value->elementType != GgufType::String) {
    return wrongType(key, "an array of strings", *value);
  }
  std::vector<std::string_view> strings;
  strings.reserve(value->count);
  forEachString(*value,
                [&](std::string_view text) { strings.push_back(text); });
  return strings;
}

absl::StatusOr<std::vector<int64_t>>
GgufMetadata::getInts(std::string_view key) const {
  return numbersOf<int64_t>(find(key), key, "an array of integers");
}

absl::StatusOr<std::vector<float>>
GgufMetadata::getFloats(std::string_view key) const {
  return numbersOf<float>(find(key), key, "an array of numbers");
}

nlohmann::json GgufMetadata::toJson() const {
  nlohmann::json object = nlohmann::json::object();
  for (const auto &[key, value] : values) {
    // A string of an array cannot be longer than the array.
    bool isText =
        value.type == GgufType::String || value.elementType == GgufType::String;
    if (value.count <= kLongestArrayInJson &&
        (!isText || value.bytes.size() <= kLongestStringInJson)) {
      object[key] = valueToJson(value);
    }
  }
  return object;
}

} // namespace quire
