// What is put into a native buffer comes out again, in every way that buffers
// are stored; the measures of errors.

#include "tools/bisect/NativeBuffer.h"
#include "ir/reference/Rounding.h"
#include "ir/rt/Layout.h"
#include "tools/bisect/LaunchError.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

namespace quire::bisect {
namespace {

using reference::Rows;

Rows someRows(int64_t rows, int64_t features) {
  Rows out(rows, features);
  for (size_t i = 0; i < out.values.size(); ++i) {
    out.values[i] = std::sin(float(i) * 0.7f) * float(1 + i % 7);
  }
  return out;
}

/// A step with nothing but an arena.
struct Arena {
  std::vector<std::byte> bytes = std::vector<std::byte>(1 << 16);
  QuireStep step() {
    QuireStep step = {};
    step.arena = bytes.data();
    return step;
  }
};

struct Int8 {
  Stored stored;
  int64_t group;
  int64_t features;
};

class Int8BufferTest : public testing::TestWithParam<Int8> {};

TEST_P(Int8BufferTest, RoundedValuesStay) {
  auto [stored, group, features] = GetParam();
  Rows values = someRows(3, features);
  // Rounded group by group of a row; the last may be short.
  for (int64_t r = 0; r < values.rows; ++r) {
    for (int64_t begin = 0; begin < features; begin += group) {
      int64_t count = std::min(group, features - begin);
      Rows part(1, count);
      std::copy_n(values.row(r).data() + begin, count, part.values.data());
      part = reference::quantizeActivation(part, count);
      std::copy_n(part.values.data(), count, values.row(r).data() + begin);
    }
  }
  Arena arena;
  NativeBuffer buffer = {
      .name = "b", .writer = {}, .stored = stored, .offset = 64};
  writeBuffer(buffer, arena.step(), values);
  Rows back = readBuffer(buffer, arena.step(), 3, features);
  EXPECT_LE(errorOf(stored, back, values), 1e-4); // of a step
  back.row(2)[features - 1] += 0.5f;
  EXPECT_GT(errorOf(stored, back, values), barOf(stored));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Int8BufferTest,
    testing::Values(Int8{Stored::Int8By32, 32, 32},
                    Int8{Stored::Int8By32, 32, 96},
                    Int8{Stored::Int8By32, 32, 80}, // half a group
                    Int8{Stored::Int8By256, 256, 512},
                    Int8{Stored::Int8By256, 256, 320} // a quarter block
                    ));

TEST(NativeBufferTest, SumsOfInt8Rows) {
  // Values that are integers with the scale 1.
  Rows values(1, 256);
  for (int i = 0; i < 256; ++i) {
    values.values[size_t(i)] = float(i % 16 == 0 ? 127 : i / 16);
  }
  Arena arena;
  NativeBuffer buffer = {
      .name = "b", .writer = {}, .stored = Stored::Int8By256, .offset = 0};
  writeBuffer(buffer, arena.step(), values);
  layout::Int8By256Block block;
  std::memcpy(&block,
              arena.bytes.data() +
                  layout::activationMetaOffset(
                      layout::ActivationFormat::Int8By256, 1, 256),
              sizeof(block));
  EXPECT_EQ(block.scale, 1.0f);
  EXPECT_EQ(block.minus32Sum16[3], -32 * (127 + 15 * 3));
  EXPECT_EQ(block.sum16[2], 127 + 15 * 1); // order 0 2 1 3
  EXPECT_EQ(block.sum32[1], 2 * 127 + 15 * (4 + 5));
}

TEST(NativeBufferTest, RoutesStay) {
  Rows routes(2, 4);
  routes.values = {0, 0.25f, 5, 0.75f, 2, 0.5f, 3, 0.5f};
  Arena arena;
  NativeBuffer buffer = {
      .name = "b", .writer = {}, .stored = Stored::Routes, .offset = 128};
  writeBuffer(buffer, arena.step(), routes);
  Rows back = readBuffer(buffer, arena.step(), 2, 4);
  EXPECT_EQ(back.values, routes.values);
  back.values[2] = 4; // another expert
  EXPECT_GT(errorOf(Stored::Routes, back, routes), 1e9);
}

TEST(LaunchErrorTest, IsRelativeToTheRow) {
  Rows expected(2, 4);
  expected.values = {1, -1, 1, -1, 100, -100, 100, -100};
  Rows got = expected;
  got.values[5] += 1;
  EXPECT_NEAR(errorOf(Stored::Floats, got, expected), 0.01, 1e-9);
  got.values[0] += 1;
  EXPECT_NEAR(errorOf(Stored::Floats, got, expected), 1, 1e-9);
}

TEST(LaunchErrorTest, WhatIsNoNumberIsWrong) {
  Rows expected(1, 2);
  expected.values = {1, 2};
  Rows got = expected;
  got.values[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_GT(errorOf(Stored::Floats, got, expected), 1e9);
  EXPECT_GT(errorOf(Stored::Int8By32, got, expected), 1e9);
  // Something where nothing should be.
  expected.values = {0, 0};
  got.values = {0, 1e-30f};
  EXPECT_GT(errorOf(Stored::Floats, got, expected), 1e9);
  got.values = {0, 0};
  EXPECT_EQ(errorOf(Stored::Floats, got, expected), 0);
}

} // namespace
} // namespace quire::bisect
