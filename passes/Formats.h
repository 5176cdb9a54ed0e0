// How number formats meet: which activations a weight is multiplied with, and
// the bridge from the IR's types to the layout formulas of ir/rt/Layout.h.

#ifndef QUIRE_PASSES_FORMATS_H
#define QUIRE_PASSES_FORMATS_H

#include "ir/lm/Lm.h"
#include "ir/rt/Layout.h"

namespace quire {

/// What a product with a weight of this format reads.
lm::ActivationFormat activationFormatFor(lm::NumberFormat weight);

/// The format that `quantize-weights` with option `to` (keep, f32, bf16, int8,
/// int4, int4a) gives a matrix or stack that is no router's. `vocabulary`: the
/// embedding or the head.
lm::NumberFormat formatUnder(llvm::StringRef to, lm::WeightType type,
                             bool vocabulary);

/// The same for a product of two weights (lm.fold_key, lm.fold_value), which
/// keeps twice the bits: f32 under bf16, bf16 under int8, int8 under int4 and
/// int4a. Rounded like one weight it would carry more error than both.
lm::NumberFormat foldedFormatUnder(llvm::StringRef to, lm::WeightType type);

layout::ActivationFormat toLayout(lm::ActivationFormat format);

/// Bytes of a buffer for `rows` rows of this type (rows or activations).
int64_t bufferBytes(mlir::Type type, int64_t rows);

/// Bytes of a packed weight: vectors are plain f32, matrices as kernels read
/// them.
int64_t packedBytes(lm::WeightType type);

} // namespace quire

#endif
