#include "codegen/weights/PackFormats.h"
#include "codegen/weights/PackPlanes.h"
#include "ir/rt/Layout.h"

namespace quire::pack {

void packFloatRow(NumberFormat format, const RowToPack &row) {
  const int64_t bytes = numberFormatInfo(format).blockBytes;
  const int64_t unitBytes = layout::packedFormat(format).unitBytes;
  for (int64_t k = 0; k < row.inputs; ++k) {
    // bf16 keeps the two values of a unit side by side, the others apart.
    const int64_t place = format == NumberFormat::BF16
                              ? 2 * row.output + k % 2
                              : k % 2 * layout::kSupertileOutputs + row.output;
    std::memcpy(row.supertile + k / 2 * unitBytes + place * bytes,
                row.stored + k * bytes, static_cast<size_t>(bytes));
  }
}

} // namespace quire::pack
