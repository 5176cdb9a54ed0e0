#include "codegen/weights/PackWeights.h"

#include "codegen/weights/PackFormats.h"
#include "codegen/weights/QuantizeRows.h"
#include "ir/rt/Layout.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <vector>

namespace quire {

bool canPack(NumberFormat format, int64_t inputs) {
  if (layout::packedFormat(format).unitValues == 0 || inputs <= 0) {
    return false;
  }
  const int64_t block = numberFormatInfo(format).blockValues;
  return block == 0 || inputs % block == 0;
}

int64_t storedRowBytes(NumberFormat format, int64_t inputs) {
  if (format == NumberFormat::Int8Row) {
    return 4 + inputs;
  }
  const NumberFormatInfo &info = numberFormatInfo(format);
  return inputs / info.blockValues * info.blockBytes;
}

static void packRow(NumberFormat format, const pack::RowToPack &row) {
  switch (layout::activationFormatFor(format)) {
  case layout::ActivationFormat::F32:
    pack::packFloatRow(format, row);
    return;
  case layout::ActivationFormat::Int8By32:
    pack::packBlock32Row(format, row);
    return;
  case layout::ActivationFormat::Int8By256:
    pack::packBlock256Row(format, row);
    return;
  }
}

/// Packs rows that `storedRow(n)` hands out one at a time.
template <class StoredRow>
static void packRows(NumberFormat format, PackShape shape,
                     std::span<std::byte> packed, StoredRow storedRow) {
  assert(canPack(format, shape.inputs));
  const int64_t stride = layout::supertileBytes(format, shape.inputs);
  assert(static_cast<int64_t>(packed.size()) ==
         layout::supertiles(shape.rows) * stride);
  for (int64_t first = 0; first < shape.rows;
       first += layout::kSupertileOutputs) {
    std::byte *supertile =
        packed.data() + first / layout::kSupertileOutputs * stride;
    std::memset(supertile, 0, static_cast<size_t>(stride));
    const int64_t end = std::min(first + layout::kSupertileOutputs, shape.rows);
    for (int64_t n = first; n < end; ++n) {
      packRow(format, {storedRow(n), shape.inputs, supertile, n - first});
    }
  }
}

void packStored(NumberFormat format, PackShape shape,
                std::span<const std::byte> source,
                std::span<std::byte> packed) {
  const int64_t rowBytes = storedRowBytes(format, shape.inputs);
  assert(static_cast<int64_t>(source.size()) == shape.rows * rowBytes);
  packRows(format, shape, packed,
           [&](int64_t n) { return source.data() + n * rowBytes; });
}

void packFloats(NumberFormat format, PackShape shape,
                std::span<const float> source, std::span<std::byte> packed) {
  assert(canQuantize(format));
  std::vector<std::byte> stored(
      static_cast<size_t>(storedRowBytes(format, shape.inputs)));
  packRows(format, shape, packed, [&](int64_t n) {
    quantizeRow(format,
                source.subspan(static_cast<size_t>(n * shape.inputs),
                               static_cast<size_t>(shape.inputs)),
                stored);
    return stored.data();
  });
}

} // namespace quire
