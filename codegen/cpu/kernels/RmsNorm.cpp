// rms_norm: residual sum, root-mean-square norm per section, and the
// quantised form that following products read, in one pass over a row.

#include "codegen/cpu/kernels/Activation.h"
#include "codegen/cpu/kernels/Rows.h"

namespace QUIRE_KERNEL_NAMESPACE {

struct RmsNorm {
  static QUIRE_INLINE int64_t tiles(const RmsNormArgs &args) {
    return rowTiles(rowCount(args.step, args.rowSet));
  }

  static QUIRE_INLINE void tile(const RmsNormArgs &args, int64_t tile,
                                std::byte *scratch) {
    const int64_t rows = rowCount(args.step, args.rowSet);
    forRows(rows, tile, [&](int64_t row) {
      const int64_t at = row * args.features;
      float *out =
          args.out ? args.out + at : reinterpret_cast<float *>(scratch);
      for (int64_t s = 0; s < args.features; s += args.width) {
        section({args.x + at + s, args.delta ? args.delta + at + s : nullptr,
                 args.sum ? args.sum + at + s : nullptr, args.weight, out + s,
                 args.width, static_cast<float>(args.epsilon)});
      }
      if (args.quantized) {
        quantizeRow(out, args.features, args.quantized, rows, row, args.group);
      }
    });
  }

  struct Section {
    const float *x;
    const float *delta;
    float *sum;
    const float *weight;
    float *out;
    int64_t width;
    float epsilon;
  };

  static QUIRE_INLINE void section(const Section &s) {
    // Squares add up in sixteen lanes, ascending, then in sumLanes' tree.
    F32x16 squares = {};
    for (int64_t i = 0; i < s.width; i += kLanes) {
      const int64_t left = s.width - i;
      F32x16 v = loadPart(s.x + i, left);
      if (s.delta) {
        v += loadPart(s.delta + i, left);
      }
      if (s.sum) {
        storePart(s.sum + i, v, left);
      }
      squares = fma(v, v, squares);
    }
    const float mean = sumLanes(squares) / static_cast<float>(s.width);
    const F32x16 inverse = splat(1.0f / __builtin_sqrtf(mean + s.epsilon));
    for (int64_t i = 0; i < s.width; i += kLanes) {
      const int64_t left = s.width - i;
      // x may be the very buffer that sum was written to.
      F32x16 v = loadPart(s.sum ? s.sum + i : s.x + i, left);
      if (s.delta && !s.sum) {
        v += loadPart(s.delta + i, left);
      }
      storePart(s.out + i, v * inverse * loadPart(s.weight + i, left), left);
    }
  }
};

} // namespace QUIRE_KERNEL_NAMESPACE

namespace quire::cpu {
QUIRE_DEFINE_KERNEL(rms_norm, RmsNormArgs, QUIRE_KERNEL_LEVEL::RmsNorm)
} // namespace quire::cpu
