// Reads fields under "<architecture>." of GGUF metadata one after the other and
// keeps the first error.

#ifndef QUIRE_FRONTENDS_GGUF_READER_H
#define QUIRE_FRONTENDS_GGUF_READER_H

#include "frontends/formats/Json.h"
#include "frontends/formats/StrCat.h"

#include "nlohmann/json.hpp"

namespace quire::gguf {

class Reader {
public:
  Reader(const nlohmann::json &object, std::string_view architecture)
      : object(object), prefix(strCat(architecture, ".")) {}

  int64_t count(std::string_view field, int64_t otherwise = -1) {
    auto value = findInt(object, prefix + std::string(field), {0, 1 << 24});
    status.Update(value.status());
    if (value.ok() && value->has_value()) {
      return **value;
    }
    if (otherwise < 0) {
      status.Update(absl::InvalidArgumentError(
          strCat("the GGUF metadata lacks '", prefix, field, "'")));
      return 1;
    }
    return otherwise;
  }
  double number(std::string_view field, double otherwise) {
    auto value = findFloat(object, prefix + std::string(field));
    status.Update(value.status());
    return value.ok() ? value->value_or(otherwise) : otherwise;
  }
  std::string text(std::string_view field, std::string otherwise) {
    auto value = findString(object, prefix + std::string(field));
    status.Update(value.status());
    return value.ok() ? value->value_or(otherwise) : otherwise;
  }

  const nlohmann::json &object;
  std::string prefix;
  absl::Status status;
};

} // namespace quire::gguf

#endif
