// The multiply-add kernels of MachineRoof.h. Each keeps enough independent
// accumulators in registers to hide the latency of one (4 to 5 cycles, two
// units), and touches no memory.

#include "tools/machine/MachineRoof.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace quire {

namespace {

constexpr int kAccumulators = 12;

// Opaque to the optimiser: the value may have changed, so the loop stays.
#define QUIRE_KEEP(value) asm volatile("" : "+x"(value))

#if defined(__x86_64__)

__attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
int64_t int8Avx512(int64_t rounds) {
  __m512i a = _mm512_set1_epi8(1), b = _mm512_set1_epi8(1);
  __m512i sum[kAccumulators] = {};
  for (int64_t round = 0; round < rounds; ++round) {
    for (__m512i &accumulator : sum) {
      accumulator = _mm512_dpbusd_epi32(accumulator, a, b);
      asm volatile("" : "+v"(accumulator));
    }
  }
  __m512i total = _mm512_setzero_si512();
  for (__m512i accumulator : sum) {
    total = _mm512_add_epi32(total, accumulator);
  }
  return _mm512_reduce_add_epi32(total);
}

__attribute__((target("avx2"))) int64_t int8Avx2(int64_t rounds) {
  __m256i a = _mm256_set1_epi8(1), b = _mm256_set1_epi8(1);
  __m256i ones = _mm256_set1_epi16(1);
  __m256i sum[kAccumulators] = {};
  for (int64_t round = 0; round < rounds; ++round) {
    for (__m256i &accumulator : sum) {
      QUIRE_KEEP(a);
      __m256i pairs = _mm256_maddubs_epi16(a, b);
      accumulator =
          _mm256_add_epi32(accumulator, _mm256_madd_epi16(pairs, ones));
    }
  }
  int64_t total = 0;
  for (__m256i accumulator : sum) {
    total += _mm256_extract_epi32(accumulator, 0);
  }
  return total;
}

__attribute__((target("avx512f"))) int64_t f32Avx512(int64_t rounds) {
  __m512 a = _mm512_set1_ps(0.5f), b = _mm512_set1_ps(0.25f);
  __m512 sum[kAccumulators] = {};
  for (int64_t round = 0; round < rounds; ++round) {
    for (__m512 &accumulator : sum) {
      accumulator = _mm512_fmadd_ps(accumulator, a, b);
      asm volatile("" : "+v"(accumulator));
    }
  }
  float total = 0;
  for (__m512 accumulator : sum) {
    total += _mm512_reduce_add_ps(accumulator);
  }
  return static_cast<int64_t>(total);
}

__attribute__((target("avx2,fma"))) int64_t f32Avx2(int64_t rounds) {
  __m256 a = _mm256_set1_ps(0.5f), b = _mm256_set1_ps(0.25f);
  __m256 sum[kAccumulators] = {};
  for (int64_t round = 0; round < rounds; ++round) {
    for (__m256 &accumulator : sum) {
      accumulator = _mm256_fmadd_ps(accumulator, a, b);
      QUIRE_KEEP(accumulator);
    }
  }
  float total = 0;
  for (__m256 accumulator : sum) {
    total += _mm256_cvtss_f32(accumulator);
  }
  return static_cast<int64_t>(total);
}

#endif

// Portable: what the compiler makes of plain loops for the baseline CPU.
int64_t int8Portable(int64_t rounds) {
  int32_t sum[64] = {};
  volatile int8_t factor = 1;
  for (int64_t round = 0; round < rounds; ++round) {
    int8_t a = factor;
    for (int32_t &accumulator : sum) {
      accumulator += a * int8_t{3};
    }
  }
  return sum[0] + sum[63];
}

int64_t f32Portable(int64_t rounds) {
  float sum[64] = {};
  volatile float factor = 0.5f;
  for (int64_t round = 0; round < rounds; ++round) {
    float a = factor;
    for (float &accumulator : sum) {
      accumulator = accumulator * a + 0.25f;
    }
  }
  return static_cast<int64_t>(sum[0] + sum[63]);
}

} // namespace

RoofKernel int8RoofKernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vnni") &&
      __builtin_cpu_supports("avx512bw")) {
    return {"avx512-vnni", int64_t{kAccumulators} * 64 * 2, int8Avx512};
  }
  if (__builtin_cpu_supports("avx2")) {
    return {"avx2", int64_t{kAccumulators} * 32 * 2, int8Avx2};
  }
#endif
  return {"portable", 64 * 2, int8Portable};
}

RoofKernel f32RoofKernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    return {"avx512", int64_t{kAccumulators} * 16 * 2, f32Avx512};
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {"avx2-fma", int64_t{kAccumulators} * 8 * 2, f32Avx2};
  }
#endif
  return {"portable", 64 * 2, f32Portable};
}

} // namespace quire
