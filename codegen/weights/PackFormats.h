// One packer per format family: all of K of one output into its lane of a
// supertile. `output` is 0..63 within the supertile.

#ifndef QUIRE_CODEGEN_WEIGHTS_PACKFORMATS_H
#define QUIRE_CODEGEN_WEIGHTS_PACKFORMATS_H

#include "frontends/formats/NumberFormat.h"

#include <cstddef>
#include <cstdint>

namespace quire::pack {

struct RowToPack {
  const std::byte *stored;
  int64_t inputs;
  std::byte *supertile;
  int64_t output;
};

/// f32, f16, bf16.
void packFloatRow(NumberFormat format, const RowToPack &row);
/// Formats with a scale per 32 values, and Int8Row.
void packBlock32Row(NumberFormat format, const RowToPack &row);
/// K-quants.
void packBlock256Row(NumberFormat format, const RowToPack &row);

} // namespace quire::pack

#endif
