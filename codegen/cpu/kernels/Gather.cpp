// gather_logit_rows: the rows whose logits are wanted, one after the other.

#include "codegen/cpu/kernels/Rows.h"

namespace QUIRE_KERNEL_NAMESPACE {

struct Gather {
  static QUIRE_INLINE int64_t tiles(const GatherArgs &args) {
    return rowTiles(args.step->batch->logitRows);
  }
  static QUIRE_INLINE void tile(const GatherArgs &args, int64_t tile,
                                std::byte *) {
    const QuireBatch &batch = *args.step->batch;
    forRows(batch.logitRows, tile, [&](int64_t row) {
      copyRow(args.x + batch.logitRow[row] * args.features, args.features,
              args.out + row * args.features);
    });
  }
};

} // namespace QUIRE_KERNEL_NAMESPACE

namespace quire::cpu {
QUIRE_DEFINE_KERNEL(gather_logit_rows, GatherArgs, QUIRE_KERNEL_LEVEL::Gather)
} // namespace quire::cpu
