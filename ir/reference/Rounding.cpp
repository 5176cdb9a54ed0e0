#include "ir/reference/Rounding.h"

#include "frontends/formats/Dequantize.h"

#include <algorithm>
#include <cmath>

namespace quire::reference {

/// Values of an int4 group.
static constexpr size_t kGroup = 32;

static float largestMagnitude(std::span<const float> in) {
  float largest = 0;
  for (float value : in) {
    largest = std::max(largest, std::fabs(value));
  }
  return largest;
}

/// Multiplies by the inverse of the scale, as kernels do; !lm.activation has
/// the formula and the bound.
static void roundActivation(std::span<const float> in, float *out) {
  float largest = largestMagnitude(in);
  bool counts = largest >= 1e-34f;
  float scale = counts ? largest / 127.0f : 0.0f;
  float inverse = counts ? 127.0f / largest : 0.0f;
  for (size_t i = 0; i < in.size(); ++i) {
    // nearbyint rounds halves to even, the default mode.
    out[i] = std::nearbyint(in[i] * inverse) * scale;
  }
}

Rows quantizeActivation(const Rows &x, int64_t group) {
  Rows out(x.rows, x.features);
  for (size_t begin = 0; begin < x.values.size(); begin += group) {
    roundActivation({x.values.data() + begin, static_cast<size_t>(group)},
                    out.values.data() + begin);
  }
  return out;
}

/// A row of weights as multiples of max|x| / 127.
static void roundToInt8(std::span<const float> in, float *out) {
  float scale = largestMagnitude(in) / 127.0f;
  for (size_t i = 0; i < in.size(); ++i) {
    out[i] = scale == 0 ? 0.0f : std::nearbyint(in[i] / scale) * scale;
  }
}

static float halfRounded(float value) {
  return halfToFloat(floatToHalf(value));
}

/// value = scale * (q - 8), q in [0, 15]. The value farthest from zero gets
/// q = 0, so the scale has the opposite sign.
static void roundToInt4(std::span<const float> in, float *out) {
  float farthest = 0;
  for (float value : in) {
    if (std::fabs(value) > std::fabs(farthest)) {
      farthest = value;
    }
  }
  float scale = halfRounded(farthest / -8.0f);
  for (size_t i = 0; i < in.size(); ++i) {
    float steps = scale == 0 ? 0.0f : std::nearbyint(in[i] / scale);
    out[i] = std::clamp(steps, -8.0f, 7.0f) * scale;
  }
}

/// value = scale * q + minimum, q in [0, 15].
static void roundToInt4a(std::span<const float> in, float *out) {
  auto [low, high] = std::minmax_element(in.begin(), in.end());
  float minimum = halfRounded(*low);
  float scale = halfRounded((*high - minimum) / 15.0f);
  for (size_t i = 0; i < in.size(); ++i) {
    float steps = scale == 0 ? 0.0f : std::nearbyint((in[i] - minimum) / scale);
    out[i] = std::clamp(steps, 0.0f, 15.0f) * scale + minimum;
  }
}

bool canRoundTo(NumberFormat format) {
  switch (format) {
  case NumberFormat::F32:
  case NumberFormat::F16:
  case NumberFormat::BF16:
  case NumberFormat::Int8Row:
  case NumberFormat::Int4Sym:
  case NumberFormat::Int4Asym:
    return true;
  default:
    return false;
  }
}

float roundValue(float value, NumberFormat format) {
  switch (format) {
  case NumberFormat::F16:
    return halfRounded(value);
  case NumberFormat::BF16:
    return bfloat16ToFloat(floatToBfloat16(value));
  default:
    return value;
  }
}

Weight roundWeight(const Weight &weight, NumberFormat format) {
  Weight out = weight;
  size_t step = 1;
  if (format == NumberFormat::Int8Row) {
    step = weight.shape.back();
  } else if (format == NumberFormat::Int4Sym ||
             format == NumberFormat::Int4Asym) {
    step = kGroup;
  }
  for (size_t begin = 0; begin < weight.values.size(); begin += step) {
    std::span<const float> in(weight.values.data() + begin, step);
    float *to = out.values.data() + begin;
    switch (format) {
    case NumberFormat::Int8Row:
      roundToInt8(in, to);
      break;
    case NumberFormat::Int4Sym:
      roundToInt4(in, to);
      break;
    case NumberFormat::Int4Asym:
      roundToInt4a(in, to);
      break;
    default:
      *to = roundValue(in.front(), format);
      break;
    }
  }
  return out;
}

} // namespace quire::reference
