#include "bench/Ceilings.h"

#include <cstdint>
#include <ctime>
#include <immintrin.h>

namespace quire::bench {

double threadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

/// Runs `pass` (which does `units` units) until 10 ms have gone by.
template <class Pass> static double rate(double units, Pass pass) {
  const double start = threadSeconds();
  double seconds = 0.0;
  int64_t passes = 0;
  do {
    pass();
    ++passes;
    seconds = threadSeconds() - start;
  } while (seconds < 0.01);
  return units * static_cast<double>(passes) / seconds;
}

#define QUIRE_AVX512 __attribute__((target("avx512f,avx512bw,avx512vnni")))

QUIRE_AVX512 static void readOnce(std::span<const std::byte> bytes) {
  __m512i sum[4] = {};
  for (size_t i = 0; i + 256 <= bytes.size(); i += 256) {
    for (size_t j = 0; j < 4; ++j) {
      _mm_prefetch(bytes.data() + i + 64 * j + 4096, _MM_HINT_T0);
      sum[j] = _mm512_xor_si512(sum[j],
                                _mm512_loadu_si512(bytes.data() + i + 64 * j));
    }
  }
  for (__m512i &s : sum) {
    asm volatile("" : "+v"(s));
  }
}

double readStream(std::span<const std::byte> bytes) {
  return rate(static_cast<double>(bytes.size()), [&] { readOnce(bytes); });
}

static constexpr int kChains = 16;
static constexpr int kSteps = 4096;

QUIRE_AVX512 static void dotOnce() {
  __m512i acc[kChains] = {};
  const __m512i a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(5);
  for (int i = 0; i < kSteps; ++i) {
    for (__m512i &x : acc) {
      x = _mm512_dpbusd_epi32(x, a, b);
      asm volatile("" : "+v"(x));
    }
  }
}

QUIRE_AVX512 static void fmaOnce() {
  __m512 acc[kChains] = {};
  const __m512 a = _mm512_set1_ps(0.5f), b = _mm512_set1_ps(0.25f);
  for (int i = 0; i < kSteps; ++i) {
    for (__m512 &x : acc) {
      x = _mm512_fmadd_ps(x, a, b);
      asm volatile("" : "+v"(x));
    }
  }
}

double dotPeak() { return rate(1.0 * kChains * kSteps, dotOnce); }
double fmaPeak() { return rate(1.0 * kChains * kSteps, fmaOnce); }

} // namespace quire::bench
