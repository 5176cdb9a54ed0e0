#include "codegen/weights/PackFormats.h"
#include "codegen/weights/PackPlanes.h"
#include "ir/rt/Layout.h"

namespace quire::pack {

/// One value after the other, [2][64] to a unit.
template <class T> static void packApart(const RowToPack &row) {
  constexpr int64_t half = layout::kSupertileOutputs * sizeof(T);
  std::byte *to = row.supertile + row.output * sizeof(T);
  for (int64_t k = 0; k < row.inputs; ++k) {
    storeAs(to + k * half, loadAs<T>(row.stored + k * sizeof(T)));
  }
}

/// The two values of a unit side by side, [64][2].
static void packPairs(const RowToPack &row) {
  constexpr int64_t unit = layout::kSupertileOutputs * 4;
  std::byte *to = row.supertile + row.output * 4;
  for (int64_t k = 0; k + 2 <= row.inputs; k += 2, to += unit) {
    storeAs(to, loadAs<uint32_t>(row.stored + 2 * k));
  }
  if (row.inputs % 2 != 0) {
    storeAs(to, loadAs<uint16_t>(row.stored + 2 * (row.inputs - 1)));
  }
}

void packFloatRow(NumberFormat format, const RowToPack &row) {
  if (format == NumberFormat::BF16) {
    packPairs(row);
  } else if (format == NumberFormat::F16) {
    packApart<uint16_t>(row);
  } else {
    packApart<uint32_t>(row);
  }
}

} // namespace quire::pack
