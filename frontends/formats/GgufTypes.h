// The numbers by which GGUF files name metadata types and tensor formats.

#ifndef QUIRE_FRONTENDS_FORMATS_GGUFTYPES_H
#define QUIRE_FRONTENDS_FORMATS_GGUFTYPES_H

#include "frontends/formats/NumberFormat.h"

#include <cstdint>
#include <optional>
#include <string>

namespace quire {

enum class GgufType : uint32_t {
  U8 = 0,
  I8 = 1,
  U16 = 2,
  I16 = 3,
  U32 = 4,
  I32 = 5,
  F32 = 6,
  Bool = 7,
  String = 8,
  Array = 9,
  U64 = 10,
  I64 = 11,
  F64 = 12,
};

/// Bytes of one value; 0 for strings and arrays, and for unknown types.
size_t ggufTypeBytes(GgufType type);
/// "an array" and the like, for messages.
std::string_view ggufTypeName(GgufType type);

/// Nothing for a format that Quire does not read.
std::optional<NumberFormat> formatOfGgmlType(uint32_t type);
std::optional<uint32_t> ggmlTypeOfFormat(NumberFormat format);
/// "iq2_xs (17)", also of types without a NumberFormat; for messages.
std::string ggmlTypeName(uint32_t type);

} // namespace quire

#endif
