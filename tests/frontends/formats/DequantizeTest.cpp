#include "frontends/formats/Dequantize.h"
#include "frontends/formats/SafetensorsFile.h"

#include "gtest/gtest.h"

#include <cstring>

using namespace quire;

namespace {

template <typename T>
std::vector<float> decode(NumberFormat format, const std::vector<T> &values) {
  std::vector<float> out(values.size());
  dequantize(format, std::as_bytes(std::span(values)), out);
  return out;
}

/// Blocks and the values that llama.cpp's own package decodes from them.
class Golden : public testing::TestWithParam<NumberFormat> {};

TEST_P(Golden, SameBitsAsTheReference) {
  auto file = SafetensorsFile::open(QUIRE_GOLDEN_DIR "/dequantize.safetensors");
  ASSERT_TRUE(file.ok()) << file.status();
  std::string name(numberFormatName(GetParam()));
  const TensorView *blocks = file->find(name + ".blocks");
  const TensorView *values = file->find(name + ".values");
  ASSERT_TRUE(blocks && values);

  std::vector<float> out(values->bytes.size() / sizeof(float));
  dequantize(GetParam(), blocks->bytes, out);
  for (size_t i = 0; i < out.size(); ++i) {
    uint32_t ours = 0;
    uint32_t reference = 0;
    std::memcpy(&ours, &out[i], 4);
    std::memcpy(&reference, values->bytes.data() + i * 4, 4);
    ASSERT_EQ(ours, reference) << "value " << i << " is " << out[i];
  }
}

INSTANTIATE_TEST_SUITE_P(
    BlockFormats, Golden,
    testing::Values(NumberFormat::Q4_0, NumberFormat::Q4_1, NumberFormat::Q5_0,
                    NumberFormat::Q5_1, NumberFormat::Q8_0, NumberFormat::Q2_K,
                    NumberFormat::Q3_K, NumberFormat::Q4_K, NumberFormat::Q5_K,
                    NumberFormat::Q6_K),
    [](const auto &info) { return std::string(numberFormatName(info.param)); });

TEST(Dequantize, PlainNumbers) {
  using Floats = std::vector<float>;
  EXPECT_EQ(decode<float>(NumberFormat::F32, {1.5f, -0.25f}),
            (Floats{1.5f, -0.25f}));
  EXPECT_EQ(decode<double>(NumberFormat::F64, {0.1, -3.0}),
            (Floats{0.1f, -3.0f}));
  EXPECT_EQ(decode<uint16_t>(NumberFormat::F16, {0x3C00, 0xC000}),
            (Floats{1.0f, -2.0f}));
  EXPECT_EQ(decode<uint16_t>(NumberFormat::BF16, {0x3F80, 0xC000}),
            (Floats{1.0f, -2.0f}));
  EXPECT_EQ(decode<int8_t>(NumberFormat::I8, {-128, 127}),
            (Floats{-128.0f, 127.0f}));
  EXPECT_EQ(decode<uint8_t>(NumberFormat::U8, {255}), (Floats{255.0f}));
  EXPECT_EQ(decode<int16_t>(NumberFormat::I16, {-32768}), (Floats{-32768.0f}));
  // 2^24 + 1 is halfway between two floats and goes to the even one.
  EXPECT_EQ(decode<int32_t>(NumberFormat::I32, {16777217, -5}),
            (Floats{16777216.0f, -5.0f}));
  EXPECT_EQ(decode<int64_t>(NumberFormat::I64, {int64_t{1} << 40}),
            (Floats{0x1p40f}));
  EXPECT_EQ(decode<uint8_t>(NumberFormat::Bool, {0, 1}), (Floats{0, 1}));
  EXPECT_EQ(decode<uint8_t>(NumberFormat::F8E4M3, {0x38, 0x7E}),
            (Floats{1.0f, 448.0f}));
  EXPECT_EQ(decode<uint8_t>(NumberFormat::F8E5M2, {0x3C, 0xC0}),
            (Floats{1.0f, -2.0f}));
}

// The compiler's own groups: value = scale * (q - 8), scale * q + minimum.
TEST(Dequantize, Int4Groups) {
  constexpr uint16_t scale = 0x3800;   // 0.5
  constexpr uint16_t minimum = 0xC000; // -2
  std::vector<uint8_t> symmetric(18), asymmetric(20);
  std::memcpy(symmetric.data(), &scale, 2);
  std::memcpy(asymmetric.data(), &scale, 2);
  std::memcpy(asymmetric.data() + 2, &minimum, 2);
  for (int j = 0; j < 16; ++j) {
    uint8_t both = static_cast<uint8_t>(j | (15 - j) << 4);
    symmetric[2 + j] = asymmetric[4 + j] = both;
  }
  std::vector<float> out(32);
  dequantize(NumberFormat::Int4Sym, std::as_bytes(std::span(symmetric)), out);
  for (int i = 0; i < 32; ++i) {
    int q = i < 16 ? i : 31 - i;
    EXPECT_EQ(out[i], 0.5f * static_cast<float>(q - 8));
  }
  dequantize(NumberFormat::Int4Asym, std::as_bytes(std::span(asymmetric)), out);
  for (int i = 0; i < 32; ++i) {
    int q = i < 16 ? i : 31 - i;
    EXPECT_EQ(out[i], 0.5f * static_cast<float>(q) - 2.0f);
  }
}

TEST(Dequantize, NothingFromNothing) {
  dequantize(NumberFormat::Q4_K, {}, {});
  dequantize(NumberFormat::F32, {}, {});
}

} // namespace
