// A stack of weights: one matrix a head, packed one after the other.

#ifndef QUIRE_TESTS_CODEGEN_CPU_KERNELS_TESTSTACK_H
#define QUIRE_TESTS_CODEGEN_CPU_KERNELS_TESTSTACK_H

#include "ir/rt/Layout.h"
#include "tests/codegen/cpu/kernels/Harness.h"

#include <algorithm>
#include <memory>

namespace quire::test {

struct TestStack {
  std::vector<std::unique_ptr<TestWeight>> matrices;
  Aligned<std::byte> packed;

  TestStack(NumberFormat format, int64_t count, int64_t rows, int64_t inputs,
            Random &random)
      : packed(count * layout::packedWeightBytes(format, rows, inputs)) {
    std::byte *at = packed.data();
    for (int64_t i = 0; i < count; ++i) {
      matrices.push_back(
          std::make_unique<TestWeight>(format, rows, inputs, random));
      const Aligned<std::byte> &one = matrices.back()->packed;
      at = std::copy(one.data(), one.data() + one.size(), at);
    }
  }
  const TestWeight &operator[](int64_t i) const {
    return *matrices[static_cast<size_t>(i)];
  }
};

} // namespace quire::test

#endif
