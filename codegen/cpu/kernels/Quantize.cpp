// quantize: int8 activations from f32 ones.

#include "codegen/cpu/kernels/Activation.h"
#include "codegen/cpu/kernels/Rows.h"

namespace QUIRE_KERNEL_NAMESPACE {

struct Quantize {
  static QUIRE_INLINE int64_t tiles(const QuantizeArgs &args) {
    return rowTiles(rowCount(args.step, args.rowSet));
  }
  static QUIRE_INLINE void tile(const QuantizeArgs &args, int64_t tile,
                                std::byte *) {
    const int64_t rows = rowCount(args.step, args.rowSet);
    forRows(rows, tile, [&](int64_t row) {
      quantizeRow(args.x + row * args.features, args.features, args.quantized,
                  rows, row, args.group);
    });
  }
};

} // namespace QUIRE_KERNEL_NAMESPACE

namespace quire::cpu {
QUIRE_DEFINE_KERNEL(quantize, QuantizeArgs, QUIRE_KERNEL_LEVEL::Quantize)
} // namespace quire::cpu
