// Strict reading of JSON that other people wrote: bounded depth, size and
// number of values, no duplicate keys, typed access to fields. Every failure
// is a Status that names the file or the field; no exception gets out. Pure
// functions; any thread.

#ifndef QUIRE_FRONTENDS_FORMATS_JSON_H
#define QUIRE_FRONTENDS_FORMATS_JSON_H

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace quire {

struct JsonLimits {
  size_t maxBytes = 128u << 20;
  /// Containers inside containers; real configurations stay below 10.
  int maxDepth = 64;
  /// Values and keys together: what bounds the memory of the parsed document,
  /// whose small values can take thirty times their text. A tokenizer with a
  /// quarter of a million tokens needs some two million.
  size_t maxValues = 4u << 20;
};

/// Parses `text`; `source` (a path) names it in messages.
absl::StatusOr<nlohmann::json> parseJson(std::string_view text,
                                         std::string_view source,
                                         const JsonLimits &limits = {});

/// Reads and parses one file.
absl::StatusOr<nlohmann::json> readJson(const std::string &path,
                                        const JsonLimits &limits = {});

// Fields of an object. get* wants the field to be there; find* gives nullopt
// when it is absent or null, which configurations use alike. A wrong type or
// a value out of range is an error that names the field.

struct IntRange {
  int64_t lowest = std::numeric_limits<int64_t>::min();
  int64_t highest = std::numeric_limits<int64_t>::max();
};

absl::StatusOr<int64_t> getInt(const nlohmann::json &object,
                               std::string_view field, IntRange range = {});
/// Accepts integers too: configurations write 10000 for 10000.0.
absl::StatusOr<double> getFloat(const nlohmann::json &object,
                                std::string_view field);
absl::StatusOr<bool> getBool(const nlohmann::json &object,
                             std::string_view field);
absl::StatusOr<std::string> getString(const nlohmann::json &object,
                                      std::string_view field);
/// The pointer is into `object` and never null.
absl::StatusOr<const nlohmann::json *> getObject(const nlohmann::json &object,
                                                 std::string_view field);
absl::StatusOr<const nlohmann::json *> getArray(const nlohmann::json &object,
                                                std::string_view field);

absl::StatusOr<std::optional<int64_t>> findInt(const nlohmann::json &object,
                                               std::string_view field,
                                               IntRange range = {});
absl::StatusOr<std::optional<double>> findFloat(const nlohmann::json &object,
                                                std::string_view field);
absl::StatusOr<std::optional<bool>> findBool(const nlohmann::json &object,
                                             std::string_view field);
absl::StatusOr<std::optional<std::string>>
findString(const nlohmann::json &object, std::string_view field);
/// Null when absent or null.
absl::StatusOr<const nlohmann::json *> findObject(const nlohmann::json &object,
                                                  std::string_view field);
absl::StatusOr<const nlohmann::json *> findArray(const nlohmann::json &object,
                                                 std::string_view field);

/// The same error with "'path': " in front.
absl::Status inFile(std::string_view path, const absl::Status &status);

} // namespace quire

#endif
