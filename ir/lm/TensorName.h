// Names of tensors in a checkpoint, with places for numbers: `{}` for the
// layer, `{expert}` for the place in a stack of matrices. No MLIR here: the
// tables of names and the IR share it.

#ifndef QUIRE_IR_LM_TENSORNAME_H
#define QUIRE_IR_LM_TENSORNAME_H

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace quire::lm {

inline constexpr std::string_view kLayerPlace = "{}";
inline constexpr std::string_view kExpertPlace = "{expert}";

/// The name for `layer` and `matrix`; a number without a place is ignored.
inline std::string tensorName(std::string_view pattern, int64_t layer,
                              int64_t matrix) {
  std::string name(pattern);
  for (auto [place, number] :
       {std::pair(kLayerPlace, layer), std::pair(kExpertPlace, matrix)}) {
    if (size_t at = name.find(place); at != std::string::npos) {
      name.replace(at, place.size(), std::to_string(number));
    }
  }
  return name;
}

} // namespace quire::lm

#endif
