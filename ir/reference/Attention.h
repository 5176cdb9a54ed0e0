// Softmax attention of one query row to a list of keys and values: the shared
// heart of lm.attention and lm.paged_attention, so that both give the same
// bits where they see the same numbers.

#ifndef QUIRE_IR_REFERENCE_ATTENTION_H
#define QUIRE_IR_REFERENCE_ATTENTION_H

#include "ir/reference/Rows.h"

namespace quire::reference {

struct AttentionShape {
  int64_t heads = 0;
  int64_t kvHeads = 0;
  int64_t keyDim = 0;
  int64_t valueDim = 0;
  double scale = 1;
  double softcap = 0; // none where 0
};

/// What a row sees, in position order: keys[i] is [kvHeads, keyDim],
/// values[i] is [kvHeads, valueDim].
struct Visible {
  std::vector<const float *> keys;
  std::vector<const float *> values;
};

/// query: [heads, keyDim]; out: [heads, valueDim]. Nothing visible gives zeros.
void attendRow(const AttentionShape &shape, const float *query,
               const Visible &visible, float *out);

} // namespace quire::reference

#endif
