#include "ir/reference/Latent.h"

#include "ir/reference/Heads.h"
#include "ir/reference/Linear.h"

#include <algorithm>
#include <unordered_map>

namespace quire::reference {

Rows headLinear(const Rows &x, const Weight &stack, bool transposed) {
  int64_t heads = stack.shape[0];
  int64_t outputs = transposed ? stack.shape[2] : stack.shape[1];
  int64_t inputs = transposed ? stack.shape[1] : stack.shape[2];
  // Where the matrix's next output and next input are.
  int64_t outputStep = transposed ? 1 : inputs;
  int64_t inputStep = transposed ? outputs : 1;
  Rows out(x.rows, heads * outputs);
  for (int64_t r = 0; r < x.rows; ++r) {
    for (int64_t head = 0; head < heads; ++head) {
      const float *matrix = stack.values.data() + head * outputs * inputs;
      const float *from = x.row(r).data() + head * inputs;
      for (int64_t n = 0; n < outputs; ++n) {
        double sum = 0;
        for (int64_t k = 0; k < inputs; ++k) {
          sum += static_cast<double>(from[k]) *
                 matrix[n * outputStep + k * inputStep];
        }
        out.row(r)[head * outputs + n] = static_cast<float>(sum);
      }
    }
  }
  return out;
}

namespace {

/// Every token that some row sees, once, as attendRow takes it.
struct Tokens {
  std::unordered_map<const float *, int64_t> number; // by its latent
  Rows key;   // [tokens, kvHeads * (content + rotary)]
  Rows value; // [tokens, kvHeads * value]
};

/// A stack as the one matrix whose outputs are all heads'.
Weight asMatrix(const Weight &stack) {
  return {{stack.shape[0] * stack.shape[1], stack.shape[2]}, stack.values};
}

Tokens gatherTokens(const LatentAttention &attention,
                    std::span<const Visible> seen) {
  Tokens tokens;
  Rows latents(0, attention.rank), rotary(0, attention.rotary);
  for (const Visible &visible : seen) {
    for (size_t i = 0; i < visible.keys.size(); ++i) {
      const float *latent = visible.keys[i];
      if (!tokens.number.try_emplace(latent, latents.rows).second) {
        continue;
      }
      ++latents.rows;
      ++rotary.rows;
      latents.values.insert(latents.values.end(), latent,
                            latent + attention.rank);
      rotary.values.insert(rotary.values.end(), visible.values[i],
                           visible.values[i] + attention.rotary);
    }
  }
  if (!attention.keyUp) {
    tokens.key = concatHeads(latents, rotary, 1, true);
    tokens.value = std::move(latents);
    return tokens;
  }
  tokens.key = concatHeads(linear(latents, asMatrix(*attention.keyUp), nullptr),
                           rotary, attention.heads, true);
  tokens.value = linear(latents, asMatrix(*attention.valueUp), nullptr);
  return tokens;
}

} // namespace

Rows attendLatents(const LatentAttention &attention, const Rows &query,
                   const Rows &queryRotary, std::span<const Visible> seen) {
  Tokens tokens = gatherTokens(attention, seen);
  AttentionShape shape;
  shape.heads = attention.heads;
  shape.kvHeads = attention.keyUp ? attention.heads : 1;
  shape.keyDim = tokens.key.features / shape.kvHeads;
  shape.valueDim = tokens.value.features / shape.kvHeads;
  shape.scale = attention.scale;
  Rows whole = concatHeads(query, queryRotary, attention.heads, false);
  Rows out(query.rows, shape.heads * shape.valueDim);
  for (int64_t r = 0; r < query.rows; ++r) {
    Visible visible;
    for (const float *latent : seen[r].keys) {
      int64_t token = tokens.number.at(latent);
      visible.keys.push_back(tokens.key.row(token).data());
      visible.values.push_back(tokens.value.row(token).data());
    }
    attendRow(shape, whole.row(r).data(), visible, out.row(r).data());
  }
  return out;
}

Rows mergeForms(const Rows &materialised, const Rows &latent,
                std::span<const int64_t> materialisedRows) {
  Rows out(materialised.rows + latent.rows, latent.features);
  int64_t taken = 0;
  for (int64_t r = 0; r < out.rows; ++r) {
    bool isMaterialised =
        taken < materialised.rows && materialisedRows[taken] == r;
    std::ranges::copy(isMaterialised ? materialised.row(taken)
                                     : latent.row(r - taken),
                      out.row(r).begin());
    taken += isMaterialised;
  }
  return out;
}

Rows selectRows(const Rows &input, std::span<const int64_t> rows) {
  Rows out(rows.size(), input.features);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(input.row(rows[i]), out.row(i).begin());
  }
  return out;
}

} // namespace quire::reference
