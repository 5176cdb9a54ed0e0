// absl::StrCat for std::string_view. Debian builds abseil as C++14, where its
// string_view is a type of its own that takes no std::string_view.

#ifndef QUIRE_FRONTENDS_FORMATS_STRCAT_H
#define QUIRE_FRONTENDS_FORMATS_STRCAT_H

#include "absl/strings/str_cat.h"

#include <string>
#include <string_view>
#include <type_traits>

namespace quire {

template <typename Part> decltype(auto) strCatPart(const Part &part) {
  if constexpr (std::is_same_v<Part, std::string_view>) {
    return absl::string_view(part.data(), part.size());
  } else {
    return (part);
  }
}

template <typename... Parts> std::string strCat(const Parts &...parts) {
  return absl::StrCat(strCatPart(parts)...);
}

template <typename... Parts>
void strAppend(std::string &text, const Parts &...parts) {
  absl::StrAppend(&text, strCatPart(parts)...);
}

} // namespace quire

#endif
