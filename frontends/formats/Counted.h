// Counts in sentences.

#ifndef QUIRE_FRONTENDS_FORMATS_COUNTED_H
#define QUIRE_FRONTENDS_FORMATS_COUNTED_H

#include "frontends/formats/StrCat.h"

#include <cstdint>

namespace quire {

/// "1 norm", "2 norms".
inline std::string counted(int64_t count, std::string_view noun) {
  return strCat(count, " ", noun, count == 1 ? "" : "s");
}

} // namespace quire

#endif
