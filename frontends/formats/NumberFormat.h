// The number formats a tensor can be stored in, and the one table of their
// block sizes. Plain data; any thread may read it. The names ("bf16", "q4_k")
// are the ones used in the IR, the manifest, the command line and messages.

#ifndef QUIRE_FRONTENDS_FORMATS_NUMBERFORMAT_H
#define QUIRE_FRONTENDS_FORMATS_NUMBERFORMAT_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace quire {

enum class NumberFormat : uint8_t {
  F32,
  F16,
  BF16,
  F64,
  I8,
  I16,
  I32,
  I64,
  U8,
  Bool,
  F8E4M3,
  F8E5M2,
  // GGML block formats: blocks of 32 or 256 values along a row.
  Q4_0,
  Q4_1,
  Q5_0,
  Q5_1,
  Q8_0,
  Q2_K,
  Q3_K,
  Q4_K,
  Q5_K,
  Q6_K,
  // Quire's own: int8 with one f32 scale per row; int4 in groups of 32 with
  // an f16 scale, symmetric (value = scale * (q - 8)) or with an f16 minimum
  // (value = scale * q + minimum).
  Int8Row,
  Int4Sym,
  Int4Asym,
};

struct NumberFormatInfo {
  NumberFormat format;
  std::string_view name;
  int64_t blockValues; // values per block along the row; 1 for plain types,
                       // 0 where the block is the whole row (Int8Row)
  int64_t blockBytes;  // bytes of one block as files store it
};

/// Looks up the table; every enumerator has an entry.
const NumberFormatInfo &numberFormatInfo(NumberFormat format);
inline std::string_view numberFormatName(NumberFormat format) {
  return numberFormatInfo(format).name;
}
std::optional<NumberFormat> parseNumberFormat(std::string_view name);

} // namespace quire

#endif
