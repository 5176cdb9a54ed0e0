#include "tests/codegen/cpu/kernels/Harness.h"

#include "codegen/cpu/kernels/NativeKernels.h"
#include "codegen/weights/PackWeights.h"
#include "codegen/weights/QuantizeRows.h"
#include "frontends/formats/Dequantize.h"
#include "ir/rt/Layout.h"
#include "runtime/engine/IsaLevel.h"

#include "gtest/gtest.h"

#include <cstring>

namespace quire::test {

std::vector<float> randomFloats(Random &random, int64_t count,
                                float deviation) {
  std::normal_distribution<float> normal(0.0f, deviation);
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values) {
    value = normal(random);
  }
  return values;
}

/// Where a block's f16 numbers are: random bytes there would be NaN at times.
static std::vector<int64_t> halvesOf(NumberFormat format) {
  switch (format) {
  case NumberFormat::Q4_1:
  case NumberFormat::Q5_1:
  case NumberFormat::Int4Asym:
  case NumberFormat::Q4_K:
  case NumberFormat::Q5_K:
    return {0, 2};
  case NumberFormat::Q2_K:
    return {80, 82};
  case NumberFormat::Q3_K:
    return {108};
  case NumberFormat::Q6_K:
    return {208};
  default:
    return {0};
  }
}

static std::vector<std::byte> randomStored(NumberFormat format, int64_t rows,
                                           int64_t inputs, Random &random) {
  const int64_t rowBytes = storedRowBytes(format, inputs);
  std::vector<std::byte> stored(static_cast<size_t>(rows * rowBytes));
  const int64_t block = numberFormatInfo(format).blockValues;
  if (block <= 1) {
    for (int64_t n = 0; n < rows; ++n) {
      quantizeRow(format, randomFloats(random, inputs),
                  std::span(stored).subspan(static_cast<size_t>(n * rowBytes),
                                            static_cast<size_t>(rowBytes)));
    }
    return stored;
  }
  std::uniform_int_distribution<int> byte(0, 255);
  std::normal_distribution<float> normal(0.0f, 0.1f);
  for (std::byte &b : stored) {
    b = static_cast<std::byte>(byte(random));
  }
  const int64_t blockBytes = numberFormatInfo(format).blockBytes;
  for (size_t at = 0; at < stored.size();
       at += static_cast<size_t>(blockBytes)) {
    for (int64_t half : halvesOf(format)) {
      const uint16_t bits = floatToHalf(normal(random));
      std::memcpy(stored.data() + at + half, &bits, 2);
    }
  }
  return stored;
}

TestWeight::TestWeight(NumberFormat format, int64_t rows, int64_t inputs,
                       Random &random)
    : format(format), rows(rows), inputs(inputs),
      stored(randomStored(format, rows, inputs, random)),
      values(static_cast<size_t>(rows * inputs)),
      packed(layout::packedWeightBytes(format, rows, inputs)) {
  packStored(format, {rows, inputs}, stored,
             std::span(packed.data(), packed.size()));
  const auto rowBytes = static_cast<size_t>(storedRowBytes(format, inputs));
  for (size_t n = 0; n < static_cast<size_t>(rows); ++n) {
    const auto from =
        std::span<const std::byte>(stored).subspan(n * rowBytes, rowBytes);
    const auto to = std::span(values).subspan(n * static_cast<size_t>(inputs),
                                              static_cast<size_t>(inputs));
    if (format == NumberFormat::Int8Row) {
      dequantizeInt8Row(from, to);
    } else {
      dequantize(format, from, to);
    }
  }
}

void runKernel(const std::string &level, const std::string &name,
               const void *args, int64_t scratchBytes) {
  const cpu::NativeKernel *kernel = cpu::findNativeKernel(level, name);
  ASSERT_NE(kernel, nullptr) << name;
  Aligned<std::byte> scratch(scratchBytes);
  for (int64_t tile = kernel->tiles(args); tile-- > 0;) {
    std::memset(scratch.data(), 0xff, scratch.size());
    kernel->tile(args, tile, scratch.data());
    for (size_t i = 0; i < 64; ++i) {
      ASSERT_EQ(scratch.data()[scratch.size() + i], std::byte(0xff))
          << name << " wrote past its scratch";
    }
  }
}

std::vector<std::string> testedLevels() {
  std::vector<std::string> levels;
  for (const char *level : {"portable", "avx2", "avx512"}) {
    if (cpuSupportsIsa(level)) {
      levels.push_back(level);
    }
  }
  return levels;
}

std::string caseName(const std::tuple<std::string, NumberFormat> &param) {
  return std::get<0>(param) + "_" +
         std::string(numberFormatName(std::get<1>(param)));
}

const std::vector<NumberFormat> &weightFormats() {
  static const std::vector<NumberFormat> formats = {
      NumberFormat::F32,     NumberFormat::F16,     NumberFormat::BF16,
      NumberFormat::Q4_0,    NumberFormat::Q4_1,    NumberFormat::Q5_0,
      NumberFormat::Q5_1,    NumberFormat::Q8_0,    NumberFormat::Q2_K,
      NumberFormat::Q3_K,    NumberFormat::Q4_K,    NumberFormat::Q5_K,
      NumberFormat::Q6_K,    NumberFormat::Int8Row, NumberFormat::Int4Sym,
      NumberFormat::Int4Asym};
  return formats;
}

TestActivation::TestActivation(const std::string &level, NumberFormat weight,
                               int64_t rows, int64_t features,
                               const std::vector<float> &x)
    : bytes(layout::activationBytes(layout::activationFormatFor(weight), rows,
                                    features)),
      values(x) {
  using layout::ActivationFormat;
  const ActivationFormat format = layout::activationFormatFor(weight);
  if (format == ActivationFormat::F32) {
    std::memcpy(bytes.data(), x.data(), x.size() * 4);
    return;
  }
  const int64_t group = format == ActivationFormat::Int8By32 ? 32 : 256;
  RowsStep step(rows);
  const cpu::QuantizeArgs args = {&step.step, x.data(), bytes.data(),
                                  features,   group,    cpu::kBatchRows};
  runKernel(level, "quantize", &args, 0);
  const std::byte *meta =
      bytes.data() + layout::activationMetaOffset(format, rows, features);
  const int64_t metaBytes = group == 32 ? 16 : 128;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t k = 0; k < features; ++k) {
      const auto q =
          static_cast<int8_t>(bytes.data()[(k / 32 * rows + r) * 32 + k % 32]);
      float scale;
      std::memcpy(&scale, meta + (k / group * rows + r) * metaBytes, 4);
      values[static_cast<size_t>(r * features + k)] =
          scale * static_cast<float>(q);
    }
  }
}

} // namespace quire::test
