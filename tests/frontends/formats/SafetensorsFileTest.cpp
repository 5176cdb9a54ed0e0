// Valid oddities are read exactly; lies are refused with the tensor's name
// (IMP-2).

#include "frontends/formats/SafetensorsFile.h"
#include "tests/support/SafetensorsWriter.h"
#include "tests/support/TemporaryDirectory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace quire;
using quire::test::SafetensorsWriter;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

class SafetensorsFileTest : public testing::Test {
protected:
  absl::StatusOr<SafetensorsFile> open(std::string_view bytes) {
    return SafetensorsFile::open(directory.write("m.safetensors", bytes));
  }
  /// What opening says of a file with this header and data.
  std::string problemOf(std::string_view header, std::string_view data) {
    return problemOfFile(SafetensorsWriter::file(header, data));
  }
  std::string problemOfFile(std::string_view bytes) {
    std::string message(open(bytes).status().message());
    if (!message.empty()) {
      EXPECT_THAT(message, HasSubstr(directory.file("m.safetensors")));
      EXPECT_EQ(message.find('\n'), message.npos) << message;
      EXPECT_LT(message.size(), 500u) << message;
    }
    return message;
  }
  test::TemporaryDirectory directory;
};

TEST_F(SafetensorsFileTest, FormatsAndShapes) {
  SafetensorsWriter writer;
  writer.floats("matrix", {2, 1}, {1.0f, 2.0f});
  writer.tensor("scalar", "BF16", {}, "ss");
  writer.tensor("empty", "F16", {0}, "");
  writer.tensor("empty rows", "F16", {3, 0}, "");
  writer.tensor("eight", "F8_E4M3", {3}, "eee");
  writer.tensor("five", "F8_E5M2", {1}, "f");
  writer.tensor("long", "I64", {1}, "llllllll");
  writer.tensor("flag", "BOOL", {1}, "\1");
  auto file = open(writer.bytes());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->tensors().size(), 8u);
  EXPECT_THAT(file->find("matrix")->shape, ElementsAre(2, 1));
  EXPECT_EQ(file->find("matrix")->format, NumberFormat::F32);
  EXPECT_THAT(file->find("scalar")->shape, IsEmpty());
  EXPECT_EQ(file->find("scalar")->bytes[1], std::byte{'s'});
  EXPECT_EQ(file->find("empty")->bytes.size(), 0u);
  EXPECT_THAT(file->find("empty rows")->shape, ElementsAre(3, 0));
  EXPECT_EQ(file->find("eight")->format, NumberFormat::F8E4M3);
  EXPECT_EQ(file->find("five")->bytes[0], std::byte{'f'});
  EXPECT_EQ(file->find("long")->format, NumberFormat::I64);
  EXPECT_EQ(file->find("flag")->format, NumberFormat::Bool);
  EXPECT_EQ(file->find("none"), nullptr);
}

TEST_F(SafetensorsFileTest, EntriesInAnyOrderAndPadding) {
  std::string header =
      R"({"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},)"
      R"("__metadata__":{"format":"pt"},)"
      R"("a":{"shape":[1],"data_offsets":[0,1],"dtype":"U8"}}      )";
  auto file = open(SafetensorsWriter::file(header, "abb"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->find("a")->bytes[0], std::byte{'a'});
  EXPECT_EQ(file->find("b")->bytes[1], std::byte{'b'});
  EXPECT_EQ(file->tensors()[0].name, "a") << "the order of the data";
  EXPECT_EQ(file->metadata()["format"], "pt");
}

TEST_F(SafetensorsFileTest, NoTensorsAtAll) {
  EXPECT_EQ(problemOf("{}", ""), "");
  EXPECT_EQ(problemOf(R"({"__metadata__":{}})", ""), "");
}

TEST_F(SafetensorsFileTest, HeaderLengths) {
  auto withLength = [](uint64_t length) {
    std::string bytes = SafetensorsWriter::file("{}", "");
    bytes.replace(0, 8, reinterpret_cast<const char *>(&length), 8);
    return bytes;
  };
  EXPECT_THAT(problemOfFile(""), HasSubstr("too short"));
  EXPECT_THAT(problemOfFile(withLength(1ull << 63)),
              HasSubstr("claims 9223372036854775808 bytes"));
  EXPECT_THAT(problemOfFile(withLength(UINT64_MAX)), HasSubstr("claims"));
  EXPECT_THAT(problemOfFile(withLength(100'000'001)),
              HasSubstr("the format allows 100000000"));
  EXPECT_THAT(problemOfFile(withLength(3)), HasSubstr("only 2 follow"));
  EXPECT_THAT(problemOfFile(withLength(0)), HasSubstr("not valid JSON"));
}

struct BadHeader {
  const char *name;
  std::string header;
  std::string data;
  const char *message;
};

class BadHeaders : public SafetensorsFileTest,
                   public testing::WithParamInterface<BadHeader> {};

TEST_P(BadHeaders, AreRefused) {
  EXPECT_THAT(problemOf(GetParam().header, GetParam().data),
              HasSubstr(GetParam().message));
}

/// A header with one tensor "w".
std::string one(std::string_view dtype, std::string_view shape,
                std::string_view offsets) {
  return R"({"w":{"dtype":")" + std::string(dtype) + R"(","shape":)" +
         std::string(shape) + R"(,"data_offsets":)" + std::string(offsets) +
         "}}";
}

INSTANTIATE_TEST_SUITE_P(
    Imp2, BadHeaders,
    testing::Values(
        BadHeader{"NotAnObject", "[]", "", "not a JSON object"},
        BadHeader{"NotJson", "{\"w\"", "", "not valid JSON"},
        BadHeader{"Deep", std::string(100000, '['), "", "nested deeper"},
        BadHeader{"EntryNotAnObject", R"({"w":3})", "", "'w'"},
        BadHeader{"NoDtype", R"({"w":{"shape":[]}})", "", "'dtype'"},
        BadHeader{"NoShape", R"({"w":{"dtype":"F32"}})", "", "'shape'"},
        BadHeader{"UnknownDtype", one("F33", "[1]", "[0,4]"), "1234",
                  "the tensor 'w': the dtype 'F33' is not supported"},
        BadHeader{"ReversedOffsets", one("F32", "[1]", "[4,0]"), "1234",
                  "'w': its bytes [4, 0)"},
        BadHeader{"NegativeOffsets", one("F32", "[1]", "[-4,0]"), "1234",
                  "'w': the field 'data_offsets'"},
        BadHeader{"OutsideOffsets", one("F32", "[2]", "[0,8]"), "1234",
                  "'w': its bytes [0, 8) are not within the 4 bytes"},
        BadHeader{"HugeOffsets", one("F32", "[1]", "[0,18446744073709551615]"),
                  "1234", "'w'"},
        BadHeader{"ThreeOffsets", one("F32", "[1]", "[0,4,4]"), "1234",
                  "'w': the field 'data_offsets' must hold two"},
        BadHeader{"FractionalOffsets", one("F32", "[1]", "[0,4.0]"), "1234",
                  "'w'"},
        BadHeader{"ShapeTooLarge", one("F32", "[1000,1000]", "[0,4]"), "1234",
                  "'w': the shape [1000, 1000] in f32 takes 4000000 bytes"},
        BadHeader{"ShapeTooSmall", one("U8", "[3]", "[0,4]"), "1234", "'w'"},
        BadHeader{"ShapeOverflows",
                  one("F32", "[4294967296,4294967296,1]", "[0,4]"), "1234",
                  "'w': the shape"},
        BadHeader{"NegativeShape", one("F32", "[-1]", "[0,4]"), "1234",
                  "'w': the field 'shape'"},
        BadHeader{"TextShape", one("F32", "[\"1\"]", "[0,4]"), "1234", "'w'"},
        BadHeader{"TrailingData", one("F32", "[1]", "[0,4]"), "12345678",
                  "cover 4 of the 8 bytes"},
        BadHeader{"Gap", one("F32", "[1]", "[4,8]"), "12345678",
                  "cover 4 of the 8 bytes"},
        BadHeader{"Overlap",
                  R"({"v":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                  R"("w":{"dtype":"U8","shape":[3],"data_offsets":[1,4]}})",
                  "1234", "'v' and 'w' overlap"},
        BadHeader{"Duplicate",
                  R"({"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                  R"("w":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
                  "1234", "duplicate key 'w'"},
        BadHeader{"MetadataOfNumbers", R"({"__metadata__":{"a":1}})", "",
                  "'__metadata__' must be an object of strings"}),
    [](const auto &info) { return info.param.name; });

TEST_F(SafetensorsFileTest, EveryTruncation) {
  SafetensorsWriter writer;
  writer.floats("a", {2, 2}, {1, 2, 3, 4}).tensor("b", "BF16", {3}, "bbbbbb");
  std::string whole = writer.bytes();
  ASSERT_EQ(problemOfFile(whole), "");
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(problemOfFile(whole.substr(0, length)), "") << length;
  }
}

TEST_F(SafetensorsFileTest, EveryFlippedBit) {
  SafetensorsWriter writer;
  writer.floats("a", {2, 2}, {1, 2, 3, 4}).tensor("b", "BF16", {3}, "bbbbbb");
  std::string whole = writer.bytes();
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string changed = whole;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    problemOfFile(changed);
  }
}

} // namespace
