// Weights into the layout that kernels read (ir/rt/Layout.h). Packing works
// on whole supertiles of 64 outputs and needs no more of the source than
// their rows, so that a compile streams: any range of rows that starts at a
// multiple of 64 packs on its own, into its own part of the destination.
// Rows missing at the end of the last supertile are zeros. Pure functions;
// any thread.

#ifndef QUIRE_CODEGEN_WEIGHTS_PACKWEIGHTS_H
#define QUIRE_CODEGEN_WEIGHTS_PACKWEIGHTS_H

#include "frontends/formats/NumberFormat.h"

#include <cstddef>
#include <span>

namespace quire {

/// The rows to pack: `rows` outputs of `inputs` values each.
struct PackShape {
  int64_t rows;
  int64_t inputs;
};

/// True where `format` has a packed layout and `inputs` is a whole number of
/// its blocks.
bool canPack(NumberFormat format, int64_t inputs);

/// Bytes of one row in the form that packStored reads: the file's blocks; for
/// Int8Row an f32 scale and then `inputs` bytes.
int64_t storedRowBytes(NumberFormat format, int64_t inputs);

/// Repacks stored rows without changing a value. `source` holds rows *
/// storedRowBytes, `packed` layout::packedWeightBytes(format, rows, inputs).
void packStored(NumberFormat format, PackShape shape,
                std::span<const std::byte> source, std::span<std::byte> packed);

/// Converts f32 rows to `format` (f32, f16, bf16, int8, int4 or int4a: see
/// QuantizeRows.h) and packs them.
void packFloats(NumberFormat format, PackShape shape,
                std::span<const float> source, std::span<std::byte> packed);

} // namespace quire

#endif
