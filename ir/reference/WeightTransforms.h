// Every weight expression but lm.convert_weight, which is in Rounding.h.

#ifndef QUIRE_IR_REFERENCE_WEIGHTTRANSFORMS_H
#define QUIRE_IR_REFERENCE_WEIGHTTRANSFORMS_H

#include "ir/reference/Rows.h"

namespace quire::reference {

/// Row 2i + j of a head (j in {0, 1}) becomes row j * (headDim / 2) + i.
Weight unpermuteRotary(const Weight &weight, int64_t headDim);

/// weight * scale + offset, in f32.
Weight affineWeight(const Weight &weight, double scale, double offset);

/// Of each of `heads` heads of rows as many rows from `begin` on as a head of
/// `shape` has. `shape` is a stack, a matrix or a vector.
Weight takeRows(const Weight &weight, int64_t heads, int64_t begin,
                std::vector<int64_t> shape);

/// Head h of the result is key[h]^T query[h]: [heads * rank, inputs]. Products
/// and sums are rounded to f32, in ascending order of the summed channel.
Weight foldKey(const Weight &query, const Weight &key);

/// Columns of head h are those of `product` times value[h]: [outputs, heads *
/// rank]. Rounded as in foldKey.
Weight foldValue(const Weight &product, const Weight &value);

} // namespace quire::reference

#endif
