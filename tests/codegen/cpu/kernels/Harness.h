// What kernel tests share: random weights in any stored format, packed; step
// structs over plain vectors; and a runner that poisons scratch before every
// tile, so that a kernel which reads what it did not write is found out.

#ifndef QUIRE_TESTS_CODEGEN_CPU_KERNELS_HARNESS_H
#define QUIRE_TESTS_CODEGEN_CPU_KERNELS_HARNESS_H

#include "codegen/cpu/kernels/Args.h"
#include "frontends/formats/NumberFormat.h"

#include <cstddef>
#include <new>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace quire::test {

/// A cache-line aligned array, filled with 0xff: a NaN in every float format.
template <class T> class Aligned {
public:
  explicit Aligned(int64_t count)
      : length(static_cast<size_t>(count)),
        elements(static_cast<T *>(
            ::operator new(length * sizeof(T) + 64, std::align_val_t(64)))) {
    auto *bytes = reinterpret_cast<unsigned char *>(elements);
    std::fill(bytes, bytes + length * sizeof(T) + 64, 0xff);
  }
  Aligned(const Aligned &) = delete;
  Aligned &operator=(const Aligned &) = delete;
  ~Aligned() { ::operator delete(elements, std::align_val_t(64)); }
  T *data() { return elements; }
  const T *data() const { return elements; }
  size_t size() const { return length; }
  T &operator[](size_t i) { return elements[i]; }
  const T &operator[](size_t i) const { return elements[i]; }

private:
  size_t length;
  T *elements;
};

using Random = std::mt19937;

std::vector<float> randomFloats(Random &random, int64_t count,
                                float deviation = 1.0f);

/// A weight tensor: as a file stores it, as numbers, and packed.
struct TestWeight {
  NumberFormat format;
  int64_t rows;
  int64_t inputs;
  std::vector<std::byte> stored;
  std::vector<float> values; // [rows, inputs]
  Aligned<std::byte> packed;

  TestWeight(NumberFormat format, int64_t rows, int64_t inputs, Random &random);
};

/// A step that only knows how many rows it has.
struct RowsStep {
  QuireBatch batch = {};
  QuireStep step = {};
  explicit RowsStep(int64_t rows) {
    batch.rows = static_cast<int32_t>(rows);
    step.batch = &batch;
  }
};

/// Runs all tiles of a kernel, last one first to show that order is free.
void runKernel(const std::string &level, const std::string &kernel,
               const void *args, int64_t scratchBytes);

/// The levels this machine can run.
std::vector<std::string> testedLevels();

/// All formats that products read.
const std::vector<NumberFormat> &weightFormats();

/// "avx2_q4_k": what a test of a level and a format is called.
std::string caseName(const std::tuple<std::string, NumberFormat> &param);

/// x as the activation format of `weight` keeps it, in the kernel's layout,
/// and the numbers that it stands for.
struct TestActivation {
  Aligned<std::byte> bytes;
  std::vector<float> values; // [rows, features]
  TestActivation(const std::string &level, NumberFormat weight, int64_t rows,
                 int64_t features, const std::vector<float> &x);
};

} // namespace quire::test

#endif
