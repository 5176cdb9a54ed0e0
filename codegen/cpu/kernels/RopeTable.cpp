// rope_table: cosines and sines of every row's angles.

#include "codegen/cpu/kernels/Rows.h"

extern "C" double pow(double, double);

namespace QUIRE_KERNEL_NAMESPACE {

typedef double F64x8 __attribute__((vector_size(64)));
typedef int64_t I64x8 __attribute__((vector_size(64)));
typedef float F32x8 __attribute__((vector_size(32)));

struct SineCosine {
  F64x8 sine, cosine;
};

/// In double, so that the f32 results are rounded correctly but for the
/// rarest cases. The angle loses the nearest multiple n of pi/2, which is
/// taken off in two parts; the first has 33 bits, so that n times it is exact
/// for every angle below 2^20.
QUIRE_INLINE SineCosine sineCosine(F64x8 angle) {
  const F64x8 shifted = angle * 0.63661977236758134 + 0x1.8p52;
  const F64x8 n = shifted - 0x1.8p52;
  const I64x8 quadrant = __builtin_bit_cast(I64x8, shifted);
  const F64x8 r = (angle - n * 0x1.921fb544p0) - n * 0x1.0b4611a626331p-34;
  const F64x8 z = r * r;
  // Taylor series; the first terms left out are below 5e-17.
  const F64x8 sine =
      r + r * z *
              (-1.0 / 6 +
               z * (1.0 / 120 +
                    z * (-1.0 / 5040 + z * (1.0 / 362880 +
                                            z * (-1.0 / 39916800 +
                                                 z * (1.0 / 6227020800.0 -
                                                      z / 1307674368000.0))))));
  const F64x8 cosine =
      1.0 -
      z * (0.5 -
           z * (1.0 / 24 - z * (1.0 / 720 -
                                z * (1.0 / 40320 -
                                     z * (1.0 / 3628800 -
                                          z * (1.0 / 479001600 -
                                               z * (1.0 / 87178291200.0 -
                                                    z / 20922789888000.0)))))));
  const I64x8 swapped = (quadrant & 1) != 0;
  const F64x8 s = swapped ? cosine : sine;
  const F64x8 c = swapped ? sine : cosine;
  return {(quadrant & 2) != 0 ? -s : s, ((quadrant + 1) & 2) != 0 ? -c : c};
}

struct RopeTable {
  static QUIRE_INLINE int64_t tiles(const RopeTableArgs &args) {
    return rowTiles(args.step->batch->rows);
  }

  /// Inverse frequency i of a row past the trained context: the base grows
  /// with the row's own length ("NTK-aware dynamic" scaling, as transformers
  /// computes it for a sequence that ends with this row).
  static QUIRE_INLINE float dynamicFrequency(const RopeTableArgs &args,
                                             int64_t length, int64_t i) {
    const double dim = static_cast<double>(2 * args.half);
    const double growth = args.dynamicFactor * static_cast<double>(length) /
                              static_cast<double>(args.dynamicContext) -
                          (args.dynamicFactor - 1.0);
    const double base = args.dynamicBase * ::pow(growth, dim / (dim - 2.0));
    return static_cast<float>(1.0 /
                              ::pow(base, static_cast<double>(2 * i) / dim));
  }

  static QUIRE_INLINE void tile(const RopeTableArgs &args, int64_t tile,
                                std::byte *) {
    const QuireBatch &batch = *args.step->batch;
    const float amplitude = static_cast<float>(args.amplitude);
    forRows(batch.rows, tile, [&](int64_t row) {
      const int64_t position = batch.position[row];
      const bool dynamic =
          args.dynamicContext > 0 && position + 1 > args.dynamicContext;
      float *cosines = args.out + row * 2 * args.half;
      float *sines = cosines + args.half;
      for (int64_t i = 0; i < args.half; i += 8) {
        const int64_t count = minimum(args.half - i, 8);
        F32x8 frequency = {};
        for (int64_t j = 0; j < count; ++j) {
          frequency[j] = dynamic ? dynamicFrequency(args, position + 1, i + j)
                                 : args.inverseFrequency[i + j];
        }
        const F32x8 angle = frequency * static_cast<float>(position);
        const SineCosine sc = sineCosine(__builtin_convertvector(angle, F64x8));
        const F32x8 c = __builtin_convertvector(sc.cosine, F32x8) * amplitude;
        const F32x8 s = __builtin_convertvector(sc.sine, F32x8) * amplitude;
        for (int64_t j = 0; j < count; ++j) {
          cosines[i + j] = c[j];
          sines[i + j] = s[j];
        }
      }
    });
  }
};

} // namespace QUIRE_KERNEL_NAMESPACE

namespace quire::cpu {
QUIRE_DEFINE_KERNEL(rope_table, RopeTableArgs, QUIRE_KERNEL_LEVEL::RopeTable)
} // namespace quire::cpu
