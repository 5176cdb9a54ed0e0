// Which rows of a batch an attention kernel runs over, in runs that share
// their keys, and where the cache has the keys that a row sees. Args is any
// attention kernel's: what is used is step, group and pageSize.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_ATTENTIONROWS_H
#define QUIRE_CODEGEN_CPU_KERNELS_ATTENTIONROWS_H

#include "codegen/cpu/kernels/Cache.h"

namespace QUIRE_KERNEL_NAMESPACE {

/// From the rows of a row set (all, or those of one form) to the batch's.
struct RowMap {
  const int32_t *rows; // null: all rows

  QUIRE_INLINE RowMap(const QuireBatch &batch, int64_t rowSet)
      : rows(rowSet == kLatentRows || rowSet == kMaterialisedRows
                 ? batch.formRow[rowSet - kLatentRows]
                 : nullptr) {}
  QUIRE_INLINE int64_t batchRow(int64_t index) const {
    return rows ? rows[index] : index;
  }
};

/// Rows first .. first + count - 1 of one sequence, at consecutive positions,
/// whose keys are all found through the page table; or one row of any kind.
/// In the row set they are index .. index + count - 1.
struct RowRun {
  int64_t index;
  int64_t first;
  int64_t count;
};

template <class Args>
QUIRE_INLINE int64_t tableSlot(const Args &args, int64_t row,
                               int64_t position) {
  const QuireBatch &batch = *args.step->batch;
  const int64_t page = position / args.pageSize;
  const int64_t entry =
      static_cast<int64_t>(batch.sequence[row]) * batch.maxPages + page;
  return batch.pageTable[args.group][entry] * args.pageSize + position -
         page * args.pageSize;
}

/// The slot of a position that the page table does not answer for: the row's
/// own, or an uncommitted ancestor's.
template <class Args>
QUIRE_INLINE int64_t looseSlot(const Args &args, int64_t row,
                               int64_t position) {
  const QuireBatch &batch = *args.step->batch;
  if (position == batch.position[row]) {
    return batch.slot[args.group][row];
  }
  return batch.ancestor[args.group][batch.ancestorBegin[row] + position -
                                    batch.context[row]];
}

template <class Args> QUIRE_INLINE bool isDead(const Args &args, int64_t row) {
  return args.step->batch->slot[args.group][row] < 0;
}

/// A row whose keys, its own included, stand where the page table says.
template <class Args> QUIRE_INLINE bool isPlain(const Args &args, int64_t row) {
  const QuireBatch &batch = *args.step->batch;
  return !isDead(args, row) && batch.context[row] == batch.position[row] &&
         batch.slot[args.group][row] ==
             tableSlot(args, row, batch.position[row]);
}

/// The run that begins with row `index` of the row set, which ends at `end`.
template <class Args>
QUIRE_INLINE RowRun runAt(const Args &args, const RowMap &rows, int64_t index,
                          int64_t end) {
  const QuireBatch &batch = *args.step->batch;
  const int64_t first = rows.batchRow(index);
  int64_t count = 1;
  if (index + 1 < end && isPlain(args, first)) {
    while (index + count < end) {
      const int64_t next = first + count;
      if (rows.batchRow(index + count) != next ||
          batch.sequence[next] != batch.sequence[first] ||
          batch.position[next] != batch.position[next - 1] + 1 ||
          !isPlain(args, next)) {
        break;
      }
      ++count;
    }
  }
  return {index, first, count};
}

} // namespace QUIRE_KERNEL_NAMESPACE

#endif
