// Random weights for checkpoints of a test's own, sized so that activations
// neither grow nor vanish.

#ifndef QUIRE_TESTS_E2E_RANDOMTENSORS_H
#define QUIRE_TESTS_E2E_RANDOMTENSORS_H

#include "tests/support/SafetensorsWriter.h"

#include <cmath>
#include <random>

namespace quire::e2e {

class RandomTensors {
public:
  void add(const std::string &name, const std::vector<int64_t> &shape,
           double mean, double deviation) {
    int64_t count = 1;
    for (int64_t extent : shape) {
      count *= extent;
    }
    std::normal_distribution<float> normal{float(mean), float(deviation)};
    std::vector<float> values(static_cast<size_t>(count));
    for (float &value : values) {
      value = normal(random);
    }
    writer.floats(name, shape, values);
  }
  void norm(const std::string &name, int64_t features) {
    add(name, {features}, 1, 0.3);
  }
  /// [..., outputs, inputs].
  void product(const std::string &name, const std::vector<int64_t> &shape) {
    add(name, shape, 0, 1.3 / std::sqrt(double(shape.back())));
  }
  void write(const std::string &path) const { writer.write(path); }

private:
  std::mt19937 random{7};
  test::SafetensorsWriter writer;
};

} // namespace quire::e2e

#endif
