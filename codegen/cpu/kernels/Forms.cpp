// select_form and merge_forms: the rows of one form of latent attention, and
// the rows of both forms in the batch's order again.

#include "codegen/cpu/kernels/AttentionRows.h"
#include "codegen/cpu/kernels/Rows.h"

namespace QUIRE_KERNEL_NAMESPACE {

struct SelectForm {
  static QUIRE_INLINE int64_t tiles(const SelectFormArgs &args) {
    return rowTiles(rowCount(args.step, args.rowSet));
  }
  static QUIRE_INLINE void tile(const SelectFormArgs &args, int64_t tile,
                                std::byte *) {
    const RowMap rows(*args.step->batch, args.rowSet);
    forRows(rowCount(args.step, args.rowSet), tile, [&](int64_t row) {
      copyRow(args.x + rows.batchRow(row) * args.features, args.features,
              args.out + row * args.features);
    });
  }
};

struct MergeForms {
  static QUIRE_INLINE int64_t tiles(const MergeFormsArgs &args) {
    return rowTiles(args.step->batch->rows);
  }
  static QUIRE_INLINE void tile(const MergeFormsArgs &args, int64_t tile,
                                std::byte *) {
    const QuireBatch &batch = *args.step->batch;
    forRows(batch.rows, tile, [&](int64_t row) {
      const int64_t below = latentRowsBelow(batch, row);
      const bool latent = below < batch.formRows[kQuireLatent] &&
                          batch.formRow[kQuireLatent][below] == row;
      // Of the rows before this one those that are not latent are the others.
      const float *from =
          latent ? args.latent + below * args.features
                 : args.materialised + (row - below) * args.features;
      copyRow(from, args.features, args.out + row * args.features);
    });
  }

  static QUIRE_INLINE int64_t latentRowsBelow(const QuireBatch &batch,
                                              int64_t row) {
    int64_t low = 0, high = batch.formRows[kQuireLatent];
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (batch.formRow[kQuireLatent][middle] < row) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

} // namespace QUIRE_KERNEL_NAMESPACE

namespace quire::cpu {
QUIRE_DEFINE_KERNEL(select_form, SelectFormArgs, QUIRE_KERNEL_LEVEL::SelectForm)
QUIRE_DEFINE_KERNEL(merge_forms, MergeFormsArgs, QUIRE_KERNEL_LEVEL::MergeForms)
} // namespace quire::cpu
