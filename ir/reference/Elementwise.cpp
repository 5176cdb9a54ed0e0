#include "ir/reference/Elementwise.h"

#include <cmath>
#include <numbers>

namespace quire::reference {

template <typename Fn> static Rows map(const Rows &x, Fn fn) {
  Rows out(x.rows, x.features);
  for (size_t i = 0; i < x.values.size(); ++i) {
    out.values[i] = fn(x.values[i]);
  }
  return out;
}

Rows add(const Rows &a, const Rows &b) {
  Rows out = a;
  for (size_t i = 0; i < out.values.size(); ++i) {
    out.values[i] += b.values[i];
  }
  return out;
}

Rows mul(const Rows &a, const Rows &b) {
  Rows out = a;
  for (size_t i = 0; i < out.values.size(); ++i) {
    out.values[i] *= b.values[i];
  }
  return out;
}

Rows sigmoidGate(const Rows &x, const Rows &gate) {
  Rows out = x;
  for (int64_t r = 0; r < x.rows; ++r) {
    double by = 1.0 / (1.0 + std::exp(-double(gate.row(r)[0])));
    for (float &value : out.row(r)) {
      value *= static_cast<float>(by);
    }
  }
  return out;
}

Rows scale(const Rows &x, double by) {
  float factor = static_cast<float>(by);
  return map(x, [=](float v) { return v * factor; });
}

Rows softcap(const Rows &x, double cap) {
  return map(
      x, [=](float v) { return static_cast<float>(cap * std::tanh(v / cap)); });
}

float nonlinearity(Nonlinearity kind, float value) {
  double x = value;
  switch (kind) {
  case Nonlinearity::Silu:
    return static_cast<float>(x / (1.0 + std::exp(-x)));
  case Nonlinearity::GeluTanh: {
    // Hendrycks and Gimpel 2016 (arXiv:1606.08415), the tanh approximation.
    double inner =
        std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
    return static_cast<float>(0.5 * x * (1.0 + std::tanh(inner)));
  }
  case Nonlinearity::Gelu:
    return static_cast<float>(0.5 * x *
                              (1.0 + std::erf(x / std::numbers::sqrt2)));
  }
  return value;
}

Rows nonlinearity(Nonlinearity kind, const Rows &x) {
  return map(x, [=](float v) { return nonlinearity(kind, v); });
}

} // namespace quire::reference
