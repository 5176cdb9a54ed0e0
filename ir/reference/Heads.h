// Channels of heads moved between rows: lm.slice_heads and lm.concat_heads.

#ifndef QUIRE_IR_REFERENCE_HEADS_H
#define QUIRE_IR_REFERENCE_HEADS_H

#include "ir/reference/Rows.h"

namespace quire::reference {

/// Channels [begin, begin + size) of each of `heads` heads.
Rows sliceHeads(const Rows &input, int64_t heads, int64_t begin, int64_t size);

/// Each head of `first`, then the same head of `second`, or all of `second`
/// where heads share it.
Rows concatHeads(const Rows &first, const Rows &second, int64_t heads,
                 bool shared);

} // namespace quire::reference

#endif
