// Files that lie (IMP-1): every one is refused in one sentence, quickly, and
// without memory that the file does not account for. Run these under the
// sanitizers as well.

#include "frontends/formats/GgufFile.h"
#include "tests/support/GgufWriter.h"
#include "tests/support/TemporaryDirectory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <sys/resource.h>

using namespace quire;
using quire::test::GgufWriter;
using quire::test::rawBytes;
using testing::HasSubstr;

namespace {

constexpr uint64_t kHuge = UINT64_MAX;
constexpr uint32_t kF32 = 0;

class GgufHostile : public testing::Test {
protected:
  /// What opening a file of these bytes says; empty if it opens.
  std::string problemOf(std::string_view bytes) {
    std::string path = directory.write("m.gguf", bytes);
    std::string message(GgufFile::open(path).status().message());
    if (!message.empty()) {
      EXPECT_THAT(message, HasSubstr(path));
      EXPECT_EQ(message.find('\n'), message.npos) << message;
      EXPECT_LT(message.size(), 500u) << message;
    }
    return message;
  }
  std::string problemOf(const GgufWriter &writer) {
    return problemOf(writer.bytes());
  }
  static std::string header(uint64_t tensors, uint64_t entries,
                            uint32_t version = 3) {
    return "GGUF" + rawBytes(version) + rawBytes(tensors) + rawBytes(entries);
  }
  static GgufWriter described(const std::vector<uint64_t> &dimensions,
                              uint32_t type = kF32, uint64_t offset = 0) {
    return GgufWriter().description("w", dimensions, type, offset);
  }

  test::TemporaryDirectory directory;
};

TEST_F(GgufHostile, Headers) {
  EXPECT_THAT(problemOf(""), HasSubstr("does not begin with 'GGUF'"));
  EXPECT_THAT(problemOf("GGML0000"), HasSubstr("does not begin with 'GGUF'"));
  EXPECT_THAT(problemOf(header(0, 0, 1)), HasSubstr("GGUF version 1"));
  EXPECT_THAT(problemOf(header(0, 0, 4)), HasSubstr("GGUF version 4"));
  EXPECT_THAT(problemOf(header(0, 0, 0x03000000)), HasSubstr("big-endian"));
  EXPECT_EQ(problemOf(header(0, 0)), "");
}

TEST_F(GgufHostile, AbsurdCountsTakeNeitherTimeNorMemory) {
  rusage before{};
  getrusage(RUSAGE_SELF, &before);

  std::string filler(40, '\0');
  EXPECT_THAT(problemOf(header(1ull << 63, 0) + filler),
              HasSubstr("9223372036854775808 tensors"));
  EXPECT_THAT(problemOf(header(0, 1ull << 61) + filler),
              HasSubstr("2305843009213693952 metadata entries"));
  EXPECT_NE(problemOf(header(1 << 20, 4096) + filler), "");
  // String and array lengths that wrap around when added or multiplied.
  EXPECT_THAT(problemOf(header(0, 1) + rawBytes(kHuge) + filler),
              HasSubstr("ends inside metadata name"));
  EXPECT_THAT(problemOf(GgufWriter().entry("k", GgufType::String,
                                           rawBytes(kHuge) + filler)),
              HasSubstr("the metadata 'k': the file ends inside a string"));
  for (uint64_t count : std::vector<uint64_t>{kHuge, 1ull << 61, 1 << 24}) {
    for (GgufType element : {GgufType::U8, GgufType::U64, GgufType::String}) {
      std::string array = GgufWriter::arrayHead(element, count) + filler;
      EXPECT_THAT(problemOf(GgufWriter().entry("k", GgufType::Array, array)),
                  HasSubstr("the metadata 'k'"));
    }
  }

  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  // Processor time: other work on the machine must not fail the test.
  EXPECT_LT(after.ru_utime.tv_sec - before.ru_utime.tv_sec, 2) << "seconds";
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 * 1024) << "KiB";
}

TEST_F(GgufHostile, Metadata) {
  EXPECT_THAT(problemOf(GgufWriter().u32("k", 1).u32("k", 2)),
              HasSubstr("'k' is there twice"));
  EXPECT_THAT(problemOf(GgufWriter().entry("k", GgufType(13), "xxxx")),
              HasSubstr("unknown type 13"));
  EXPECT_THAT(problemOf(GgufWriter().u32("", 1)), HasSubstr("name is empty"));
  EXPECT_THAT(problemOf(GgufWriter().u32("\xFF\n", 1)),
              HasSubstr("'\\xff\\x0a'"));
  EXPECT_THAT(problemOf(GgufWriter().entry(
                  "k", GgufType::Array,
                  GgufWriter::arrayHead(GgufType::Array, 1) + "xxxxxxxxxxxx")),
              HasSubstr("arrays of type number 9"));
  EXPECT_THAT(problemOf(GgufWriter().string("general.alignment", "32")),
              HasSubstr("'general.alignment' must be an integer"));
  EXPECT_THAT(problemOf(GgufWriter().u32("general.alignment", 0)),
              HasSubstr("'general.alignment' is 0"));
  EXPECT_THAT(problemOf(GgufWriter().u32("split.count", 4000000000u)),
              HasSubstr("'split.count'"));
}

TEST_F(GgufHostile, Dimensions) {
  EXPECT_THAT(problemOf(described({1, 1, 1, 1, 1})),
              HasSubstr("'w' has 5 dimensions"));
  std::string many = header(1, 0) + GgufWriter::sized("w") +
                     rawBytes<uint32_t>(0xFFFFFFFF) + std::string(40, '\0');
  EXPECT_THAT(problemOf(many), HasSubstr("4294967295 dimensions"));
  EXPECT_THAT(problemOf(described({1ull << 62, 4})),
              HasSubstr("more bytes than a file can have"));
  EXPECT_THAT(problemOf(described({1ull << 31, 1ull << 31, 4})),
              HasSubstr("more bytes than a file can have"));
  EXPECT_THAT(problemOf(described({1ull << 63})),
              HasSubstr("dimension of 9223372036854775808"));
  // 2^62 f32 values: the product fits, its bytes do not.
  EXPECT_THAT(problemOf(described({1ull << 62})),
              HasSubstr("more bytes than a file can have"));
  // A zero does not hide an overflow from what divides by dimensions later.
  EXPECT_EQ(problemOf(described({0, 1ull << 62})), "");
  EXPECT_THAT(problemOf(described({33}, /*Q4_0*/ 2)),
              HasSubstr("rows of 33 values, but q4_0 stores blocks of 32"));
}

TEST_F(GgufHostile, TypesThatAreNotRead) {
  EXPECT_THAT(problemOf(described({256}, 17)), HasSubstr("iq2_xs (17)"));
  EXPECT_THAT(problemOf(described({256}, 4)), HasSubstr("number 4"));
  EXPECT_THAT(problemOf(described({256}, 0xFFFFFFFF)),
              HasSubstr("number 4294967295"));
}

TEST_F(GgufHostile, Placement) {
  EXPECT_THAT(problemOf(described({8}, kF32, 0)),
              HasSubstr("wants 32 bytes at 0, but the file has 0"));
  for (uint64_t offset :
       std::vector<uint64_t>{32, 1ull << 40, 1ull << 63, kHuge - 31}) {
    GgufWriter writer;
    writer.tensor("v", NumberFormat::F32, {1}, "vvvv");
    writer.description("w", {1}, kF32, offset);
    EXPECT_THAT(problemOf(writer), HasSubstr("'w' wants 4 bytes")) << offset;
  }
  EXPECT_THAT(problemOf(described({1}, kF32, 5)),
              HasSubstr("not a multiple of the alignment 32"));

  GgufWriter overlapping;
  overlapping.tensor("v", NumberFormat::F32, {16}, std::string(64, 'v'));
  overlapping.description("w", {1}, kF32, 32);
  EXPECT_THAT(problemOf(overlapping), HasSubstr("'v' and 'w' overlap"));

  GgufWriter twice;
  twice.tensor("v", NumberFormat::F32, {1}, "vvvv");
  twice.tensor("v", NumberFormat::F32, {1}, "vvvv");
  EXPECT_THAT(problemOf(twice), HasSubstr("'v' is there twice"));
}

TEST_F(GgufHostile, EveryTruncation) {
  GgufWriter writer;
  writer.u32("a", 1).string("b", "text").strings("c", {"x", "yz"});
  writer.array<float>("d", GgufType::F32, {1, 2});
  writer.tensor("v", NumberFormat::F32, {2, 2}, std::string(16, 'v'));
  writer.tensor("w", NumberFormat::Q8_0, {32}, std::string(34, 'w'));
  std::string whole = writer.bytes();
  ASSERT_EQ(problemOf(whole), "");
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(problemOf(whole.substr(0, length)), "") << length;
  }
}

// No byte, changed in any bit, may do worse than a refusal or other values.
TEST_F(GgufHostile, EveryFlippedBit) {
  GgufWriter writer;
  writer.u32("general.alignment", 32).strings("c", {"x", "yz"});
  writer.tensor("v", NumberFormat::F32, {2, 2}, std::string(16, 'v'));
  writer.tensor("w", NumberFormat::Q8_0, {32}, std::string(34, 'w'));
  std::string whole = writer.bytes();
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string changed = whole;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    problemOf(changed);
  }
}

} // namespace
