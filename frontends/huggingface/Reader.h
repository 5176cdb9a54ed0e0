// Reads fields of config.json one after the other and keeps the first error,
// so that what fills a ModelConfig stays a list of fields.

#ifndef QUIRE_FRONTENDS_HUGGINGFACE_READER_H
#define QUIRE_FRONTENDS_HUGGINGFACE_READER_H

#include "frontends/formats/Json.h"

#include "nlohmann/json.hpp"

namespace quire::huggingface {

inline constexpr IntRange kCount{1, 1 << 24};

class Reader {
public:
  explicit Reader(const nlohmann::json &object) : object(object) {}

  int64_t count(std::string_view field) {
    return take(getInt(object, field, kCount), int64_t{1});
  }
  int64_t count(std::string_view field, int64_t otherwise) {
    return take(findInt(object, field, {0, 1 << 24}), std::optional<int64_t>())
        .value_or(otherwise);
  }
  double number(std::string_view field, double otherwise) {
    return take(findFloat(object, field), std::optional<double>())
        .value_or(otherwise);
  }
  bool flag(std::string_view field, bool otherwise) {
    return take(findBool(object, field), std::optional<bool>())
        .value_or(otherwise);
  }
  std::string text(std::string_view field, std::string otherwise) {
    return take(findString(object, field), std::optional<std::string>())
        .value_or(std::move(otherwise));
  }
  void fail(absl::Status failure) { status.Update(std::move(failure)); }

  const nlohmann::json &object;
  absl::Status status;

private:
  template <typename T> T take(absl::StatusOr<T> value, T otherwise) {
    status.Update(value.status());
    return value.ok() ? *std::move(value) : std::move(otherwise);
  }
};

} // namespace quire::huggingface

#endif
