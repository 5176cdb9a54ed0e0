// lm.fold_key and lm.fold_value: products of weights, head by head, evaluated
// some rows at a time, so that no more of a product ever exists than the rows
// that are packed next. Any thread.

#ifndef QUIRE_CODEGEN_WEIGHTS_FOLDWEIGHTS_H
#define QUIRE_CODEGEN_WEIGHTS_FOLDWEIGHTS_H

#include "codegen/weights/Evaluate.h"

namespace quire {

struct WeightFold {
  /// Each head's raising matrix, [channels, rank].
  std::vector<WeightExpression> raising;
  /// lm.fold_key: each head's query matrix, [channels, inputs].
  std::vector<WeightExpression> query;
  /// lm.fold_value, where there are no queries: [outputs, heads * channels].
  WeightExpression product;
};

/// Rows [firstRow, firstRow + count) of the fold, one after the other.
void evaluateFold(const WeightFold &fold, int64_t firstRow, int64_t count,
                  std::span<float> out);

} // namespace quire

#endif
