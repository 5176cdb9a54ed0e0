// Random numbers without state: Philox4x32-10 (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011), keyed by what is drawn, so that a
// draw depends on the request alone, never on what ran beside it.
//
// The 64-bit key is the request's seed; the 128-bit counter is {token / 4,
// position, choice, purpose}; the four words of a block serve four tokens in
// a row.

#ifndef QUIRE_RUNTIME_SAMPLE_NOISE_H
#define QUIRE_RUNTIME_SAMPLE_NOISE_H

#include <array>
#include <cstdint>

namespace quire {

using PhiloxBlock = std::array<uint32_t, 4>;

/// Ten rounds of Philox4x32.
inline PhiloxBlock philox4x32(PhiloxBlock counter, uint64_t key) {
  uint32_t key0 = static_cast<uint32_t>(key);
  uint32_t key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = uint64_t{0xD2511F53u} * counter[0];
    uint64_t product1 = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key0,
               static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key1,
               static_cast<uint32_t>(product0)};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

enum class NoisePurpose : uint32_t {
  Target = 0, // the emitted token's own draw
  Draft = 1,
  Acceptance = 2,
  Residual = 3,
};

/// Everything a draw depends on besides the token.
struct NoiseKey {
  uint64_t seed = 0;
  uint32_t choice = 0;
  uint32_t position = 0;
  NoisePurpose purpose = NoisePurpose::Target;

  PhiloxBlock counter(uint32_t block) const {
    return {block, position, choice, static_cast<uint32_t>(purpose)};
  }
  /// A word uniform over 32 bits for one token.
  uint32_t word(uint32_t token) const {
    return philox4x32(counter(token / 4), seed)[token % 4];
  }
};

/// (0, 1), never its ends.
inline double uniformFromWord(uint32_t word) { return (word + 0.5) * 0x1p-32; }

/// A Gumbel(0, 1) variate: argmax over i of (score_i + gumbel_i) is a draw
/// from softmax(score).
double gumbelFromWord(uint32_t word);

} // namespace quire

#endif
