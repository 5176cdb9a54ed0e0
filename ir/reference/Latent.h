// Multi-head latent attention: one latent and one rotary key a token, shared
// by all heads. The shared heart of lm.latent_attention and
// lm.paged_latent_attention, so that both give the same bits where they see
// the same numbers. Raised keys and values have the bits that lm.linear gives
// them, and attention to them is attendRow's.

#ifndef QUIRE_IR_REFERENCE_LATENT_H
#define QUIRE_IR_REFERENCE_LATENT_H

#include "ir/reference/Attention.h"
#include "ir/reference/Rows.h"

#include <span>

namespace quire::reference {

/// Head h of a row times matrix h of a stack, W[h] x, or W[h]^T x where
/// `transposed`. x: [rows, heads * inputs].
Rows headLinear(const Rows &x, const Weight &stack, bool transposed);

struct LatentAttention {
  int64_t heads = 0;
  int64_t rank = 0;   // of a latent
  int64_t rotary = 0; // of a rotary key
  double scale = 1;
  // Stacks [heads, content, rank] and [heads, value, rank]; null where keys
  // and values are the latents themselves.
  const Weight *keyUp = nullptr;
  const Weight *valueUp = nullptr;
};

/// query: [rows, heads * content] (rank instead of content without keyUp);
/// queryRotary: [rows, heads * rotary]; seen[i] is what row i sees, its keys
/// being latents and its values rotary keys. Result: [rows, heads * value].
Rows attendLatents(const LatentAttention &attention, const Rows &query,
                   const Rows &queryRotary, std::span<const Visible> seen);

/// The rows of both forms in the batch's order; `materialisedRows` are the
/// batch's numbers of those in `materialised`, ascending.
Rows mergeForms(const Rows &materialised, const Rows &latent,
                std::span<const int64_t> materialisedRows);

/// Some rows, in the order asked for.
Rows selectRows(const Rows &input, std::span<const int64_t> rows);

} // namespace quire::reference

#endif
