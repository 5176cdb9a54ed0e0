#include "runtime/sample/LogitScan.h"

#include "frontends/formats/Multiversion.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

namespace quire {

namespace {

constexpr int kLanes = 16;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

bool larger(const Candidate &a, const Candidate &b) {
  return a.score > b.score || (a.score == b.score && a.token < b.token);
}

/// Maxima of whole blocks; returns the bitwise or of "exponent is all ones".
QUIRE_MULTIVERSION
uint32_t maximaOfBlocks(const float *scores, int64_t blocks, float *maxima) {
  uint32_t anyBad = 0;
  for (int64_t b = 0; b < blocks; ++b) {
    const float *x = scores + b * kScanBlock;
    float lane[kLanes];
    uint32_t bad[kLanes];
    for (int i = 0; i < kLanes; ++i) {
      lane[i] = kMinusInfinity;
      bad[i] = 0;
    }
    for (int64_t j = 0; j < kScanBlock; j += kLanes) {
      for (int i = 0; i < kLanes; ++i) {
        float value = x[j + i];
        lane[i] = value > lane[i] ? value : lane[i];
        uint32_t bits = std::bit_cast<uint32_t>(value) & 0x7FFFFFFFu;
        bad[i] |= bits >= 0x7F800000u ? 1u : 0u;
      }
    }
    float top = lane[0];
    for (int i = 0; i < kLanes; ++i) {
      top = lane[i] > top ? lane[i] : top;
      anyBad |= bad[i];
    }
    maxima[b] = top;
  }
  return anyBad;
}

QUIRE_MULTIVERSION
void shiftAndDivideImpl(const float *scores, int64_t count, float shift,
                        float divisor, float *out) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = (scores[i] - shift) / divisor;
  }
}

/// exp(x) for x <= 0 by range reduction to [-ln2/2, ln2/2] and a Taylor
/// polynomial of degree 7 (error below 6e-9 there); everything under -87 is
/// exp(-87).
__attribute__((always_inline)) inline float expNegative(float x) {
  x = x > -87.0f ? x : -87.0f;
  float n = (x * 1.44269504f + 12582912.0f) - 12582912.0f;
  float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  int32_t scale = (static_cast<int32_t>(n) + 127) << 23;
  return p * std::bit_cast<float>(scale);
}

/// Adds exp(scores[i] - shift) over whole groups of kLanes into lane sums.
QUIRE_MULTIVERSION
void sumLanes(const float *scores, int64_t count, float shift, float *lanes) {
  for (int64_t j = 0; j + kLanes <= count; j += kLanes) {
    for (int i = 0; i < kLanes; ++i) {
      lanes[i] += expNegative(scores[j + i] - shift);
    }
  }
}

/// The Gumbel words of kScanBlock tokens from `firstBlock * 4` on, word w of
/// counter c at words[w * kLanes + c].
__attribute__((always_inline)) inline void
wordsOfBlock(const NoiseKey &key, uint32_t firstBlock, uint32_t *words) {
  uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    c0[i] = firstBlock + i;
    c1[i] = key.position;
    c2[i] = key.choice;
    c3[i] = static_cast<uint32_t>(key.purpose);
  }
  uint32_t key0 = static_cast<uint32_t>(key.seed);
  uint32_t key1 = static_cast<uint32_t>(key.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kLanes; ++i) {
      uint64_t product0 = uint64_t{0xD2511F53u} * c0[i];
      uint64_t product1 = uint64_t{0xCD9E8D57u} * c2[i];
      c0[i] = static_cast<uint32_t>(product1 >> 32) ^ c1[i] ^ key0;
      c1[i] = static_cast<uint32_t>(product1);
      c2[i] = static_cast<uint32_t>(product0 >> 32) ^ c3[i] ^ key1;
      c3[i] = static_cast<uint32_t>(product0);
    }
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  std::memcpy(words, c0, sizeof(c0));
  std::memcpy(words + kLanes, c1, sizeof(c1));
  std::memcpy(words + 2 * kLanes, c2, sizeof(c2));
  std::memcpy(words + 3 * kLanes, c3, sizeof(c3));
}

/// Not below gumbelFromWord(word). With u = (word + 1/2) / 2^32:
/// -log(-log u) <= -log(1 - u), whose size in powers of two is a float's
/// exponent.
__attribute__((always_inline)) inline float gumbelBound(uint32_t word) {
  constexpr float kLn2 = 0.69314718f;
  constexpr float kSlack = 1e-3f; // rounding of the bound itself
  // Halved: a conversion from 31 bits is one instruction everywhere.
  float half = static_cast<float>(static_cast<int32_t>(~word >> 1));
  int32_t exponent =
      static_cast<int32_t>(std::bit_cast<uint32_t>(half + 0.25f) >> 23) - 127;
  return static_cast<float>(31 - exponent) * kLn2 + kSlack;
}

/// Fills `words` and says whether any token of the block may beat `best`.
QUIRE_MULTIVERSION
bool blockMayWin(const float *scores, const NoiseKey &key, uint32_t firstBlock,
                 float best, uint32_t *words) {
  wordsOfBlock(key, firstBlock, words);
  uint32_t any = 0;
  for (int w = 0; w < 4; ++w) {
    for (int i = 0; i < kLanes; ++i) {
      float bound = gumbelBound(words[w * kLanes + i]);
      any |= scores[4 * i + w] + bound > best ? 1u : 0u;
    }
  }
  return any != 0;
}

/// No Gumbel variate of a 32-bit word exceeds 33 ln 2.
constexpr float kLargestGumbel = 22.88f;

} // namespace

double gumbelFromWord(uint32_t word) {
  return -std::log(-std::log(uniformFromWord(word)));
}

void BlockMaxima::compute(std::span<const float> scores) {
  int64_t count = static_cast<int64_t>(scores.size());
  int64_t blocks = count / kScanBlock;
  maxima.resize((count + kScanBlock - 1) / kScanBlock);
  finite = maximaOfBlocks(scores.data(), blocks, maxima.data()) == 0;
  if (blocks * kScanBlock < count) {
    float top = kMinusInfinity;
    for (int64_t i = blocks * kScanBlock; i < count; ++i) {
      top = scores[i] > top ? scores[i] : top;
      finite = finite && std::isfinite(scores[i]);
    }
    maxima[blocks] = top;
  }
}

int64_t BlockMaxima::argmax(std::span<const float> scores) const {
  auto block = std::max_element(maxima.begin(), maxima.end());
  if (block == maxima.end()) {
    return -1;
  }
  int64_t i = (block - maxima.begin()) * kScanBlock;
  int64_t last = static_cast<int64_t>(scores.size()) - 1;
  while (i < last && scores[i] != *block) {
    ++i;
  }
  return i;
}

void shiftAndDivide(std::span<const float> scores, float shift, float divisor,
                    std::span<float> out) {
  shiftAndDivideImpl(scores.data(), static_cast<int64_t>(scores.size()), shift,
                     divisor, out.data());
}

float exponential(float x) { return expNegative(x); }

double sumOfExponentials(std::span<const float> scores, float shift) {
  constexpr int64_t kChunk = 1024; // terms before lane sums become doubles
  double total = 0;
  int64_t count = static_cast<int64_t>(scores.size());
  for (int64_t begin = 0; begin < count; begin += kChunk) {
    int64_t size = std::min(kChunk, count - begin);
    const float *x = scores.data() + begin;
    float lanes[kLanes] = {};
    sumLanes(x, size, shift, lanes);
    for (float lane : lanes) {
      total += lane;
    }
    for (int64_t i = size / kLanes * kLanes; i < size; ++i) {
      total += expNegative(x[i] - shift);
    }
  }
  return total;
}

void collectAtLeast(std::span<const float> scores, const BlockMaxima &maxima,
                    float threshold, std::vector<Candidate> &out) {
  out.clear();
  int64_t count = static_cast<int64_t>(scores.size());
  for (size_t b = 0; b < maxima.maxima.size(); ++b) {
    if (!(maxima.maxima[b] >= threshold)) {
      continue;
    }
    int64_t begin = static_cast<int64_t>(b) * kScanBlock;
    int64_t end = std::min(begin + kScanBlock, count);
    for (int64_t i = begin; i < end; ++i) {
      if (scores[i] >= threshold) {
        out.push_back({static_cast<int32_t>(i), scores[i]});
      }
    }
  }
}

void largest(std::span<const float> scores, const BlockMaxima &maxima,
             int64_t k, std::vector<Candidate> &out) {
  out.clear();
  k = std::min(k, static_cast<int64_t>(scores.size()));
  if (k <= 0) {
    return;
  }
  // The k-th largest block maximum: at least k scores are not below it.
  float threshold = kMinusInfinity;
  if (k <= static_cast<int64_t>(maxima.maxima.size())) {
    std::vector<float> tops = maxima.maxima;
    std::nth_element(tops.begin(), tops.begin() + (k - 1), tops.end(),
                     std::greater<float>());
    threshold = tops[k - 1];
  }
  collectAtLeast(scores, maxima, threshold, out);
  if (static_cast<int64_t>(out.size()) > k) {
    std::nth_element(out.begin(), out.begin() + (k - 1), out.end(), larger);
    out.resize(k);
  }
  std::sort(out.begin(), out.end(), larger);
}

int32_t gumbelArgmax(std::span<const float> scores, const BlockMaxima &maxima,
                     int32_t best, const NoiseKey &key) {
  double bestValue = scores[best] + gumbelFromWord(key.word(best));
  int64_t count = static_cast<int64_t>(scores.size());
  for (size_t b = 0; b < maxima.maxima.size(); ++b) {
    if (!(maxima.maxima[b] + kLargestGumbel > bestValue)) {
      continue;
    }
    int64_t begin = static_cast<int64_t>(b) * kScanBlock;
    int64_t size = std::min(kScanBlock, count - begin);
    float padded[kScanBlock];
    const float *x = scores.data() + begin;
    if (size < kScanBlock) {
      std::fill_n(padded, kScanBlock, kMinusInfinity);
      std::copy_n(x, size, padded);
      x = padded;
    }
    uint32_t words[kScanBlock];
    if (!blockMayWin(x, key, static_cast<uint32_t>(begin / 4),
                     static_cast<float>(bestValue), words)) {
      continue;
    }
    for (int64_t i = 0; i < size; ++i) {
      uint32_t word = words[i % 4 * kLanes + i / 4];
      if (x[i] + gumbelBound(word) <= bestValue) {
        continue;
      }
      double value = x[i] + gumbelFromWord(word);
      if (value > bestValue) {
        bestValue = value;
        best = static_cast<int32_t>(begin + i);
      }
    }
  }
  return best;
}

int32_t gumbelArgmax(std::span<const Candidate> candidates,
                     const NoiseKey &key) {
  int32_t best = -1;
  double bestValue = -std::numeric_limits<double>::infinity();
  for (const Candidate &candidate : candidates) {
    uint32_t word = key.word(candidate.token);
    if (best >= 0 && candidate.score + gumbelBound(word) <= bestValue) {
      continue;
    }
    double value = candidate.score + gumbelFromWord(word);
    if (best < 0 || value > bestValue) {
      bestValue = value;
      best = candidate.token;
    }
  }
  return best;
}

} // namespace quire
