#include "frontends/formats/GgufFile.h"
#include "tests/support/GgufWriter.h"
#include "tests/support/TemporaryDirectory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>

using namespace quire;
using quire::test::GgufWriter;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

std::string messageOf(const absl::Status &status) {
  return std::string(status.message());
}

class GgufFileTest : public testing::Test {
protected:
  absl::StatusOr<std::unique_ptr<GgufFile>> open(const GgufWriter &writer) {
    return GgufFile::open(directory.write("m.gguf", writer.bytes()));
  }
  test::TemporaryDirectory directory;
};

TEST_F(GgufFileTest, TensorsAndTheirBytes) {
  GgufWriter writer;
  writer.tensor("a", NumberFormat::Q4_0, {2, 64}, std::string(72, 'a'));
  writer.tensor("b", NumberFormat::F32, {3}, "bbbbbbbbbbbb");
  writer.tensor("empty", NumberFormat::F32, {0, 5}, "");
  for (uint32_t version : {2u, 3u}) {
    writer.version = version;
    auto file = open(writer);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_EQ((*file)->tensors().size(), 3u);
    const TensorView *a = (*file)->find("a");
    ASSERT_TRUE(a);
    EXPECT_EQ(a->format, NumberFormat::Q4_0);
    EXPECT_THAT(a->shape, ElementsAre(2, 64));
    EXPECT_EQ(a->bytes.size(), 72u);
    const TensorView *b = (*file)->find("b");
    ASSERT_TRUE(b);
    EXPECT_EQ(b->bytes.size(), 12u);
    EXPECT_EQ(b->bytes[0], std::byte{'b'});
    EXPECT_EQ((*file)->find("empty")->bytes.size(), 0u);
    EXPECT_EQ((*file)->find("c"), nullptr);
  }
}

TEST_F(GgufFileTest, EveryKindOfMetadata) {
  GgufWriter writer;
  writer.u32("u32", 7).f32("f32", 0.5f).string("text", "some");
  writer.scalar<uint8_t>("u8", GgufType::U8, 200);
  writer.scalar<int8_t>("i8", GgufType::I8, -3);
  writer.scalar<uint16_t>("u16", GgufType::U16, 65535);
  writer.scalar<int16_t>("i16", GgufType::I16, -300);
  writer.scalar<int32_t>("i32", GgufType::I32, -70000);
  writer.scalar<uint64_t>("u64", GgufType::U64, 1ull << 63);
  writer.scalar<int64_t>("i64", GgufType::I64, -(1ll << 40));
  writer.scalar<double>("f64", GgufType::F64, 0.1);
  writer.scalar<uint8_t>("flag", GgufType::Bool, 1);
  writer.strings("words", {"one", "", "\xFFthree"});
  writer.array<int32_t>("numbers", GgufType::I32, {1, -2, 3});
  writer.array<float>("scores", GgufType::F32, {0.5f, -1.0f});
  writer.array<uint8_t>("flags", GgufType::Bool, {0, 1});
  auto file = open(writer);
  ASSERT_TRUE(file.ok()) << file.status();
  const GgufMetadata &metadata = (*file)->metadata();

  EXPECT_EQ(*metadata.getInt("u8"), 200);
  EXPECT_EQ(*metadata.getInt("i8"), -3);
  EXPECT_EQ(*metadata.getInt("u16"), 65535);
  EXPECT_EQ(*metadata.getInt("i16"), -300);
  EXPECT_EQ(*metadata.getInt("i32"), -70000);
  EXPECT_EQ(*metadata.getInt("i64"), -(1ll << 40));
  EXPECT_EQ(*metadata.getFloat("f32"), 0.5);
  EXPECT_EQ(*metadata.getFloat("f64"), 0.1);
  EXPECT_EQ(*metadata.getFloat("u32"), 7.0);
  EXPECT_EQ(*metadata.getBool("flag"), true);
  EXPECT_EQ(*metadata.getString("text"), "some");
  EXPECT_THAT(*metadata.getStrings("words"),
              ElementsAre("one", "", "\xFFthree"));
  EXPECT_THAT(*metadata.getInts("numbers"), ElementsAre(1, -2, 3));
  EXPECT_THAT(*metadata.getInts("flags"), ElementsAre(0, 1));
  EXPECT_THAT(*metadata.getFloats("scores"), ElementsAre(0.5f, -1.0f));

  EXPECT_THAT(messageOf(metadata.getInt("text").status()),
              HasSubstr("'text' must be an integer, but is a string"));
  EXPECT_THAT(messageOf(metadata.getInt("u64").status()), HasSubstr("2^63"));
  EXPECT_THAT(messageOf(metadata.getInt("u32", 8, 9).status()),
              HasSubstr("'u32' is 7, outside 8 to 9"));
  EXPECT_THAT(messageOf(metadata.getStrings("numbers").status()),
              HasSubstr("'numbers' must be an array of strings"));
  EXPECT_FALSE(metadata.getInts("words").ok());
  EXPECT_FALSE(metadata.getInts("scores").ok());
  EXPECT_FALSE(metadata.getInt("flag").ok());
  EXPECT_FALSE(metadata.getFloat("flag").ok());
  EXPECT_FALSE(metadata.getFloats("u32").ok());
  EXPECT_EQ(metadata.getInt("none").status().code(),
            absl::StatusCode::kNotFound);

  const nlohmann::json &json = (*file)->config();
  EXPECT_EQ(json["u64"], 1ull << 63);
  EXPECT_EQ(json["flag"], true);
  EXPECT_EQ(json["numbers"], nlohmann::json({1, -2, 3}));
  EXPECT_EQ(json["flags"], nlohmann::json({false, true}));
  EXPECT_EQ(json["words"][2], "\uFFFDthree");
  EXPECT_NO_THROW(json.dump());
}

TEST_F(GgufFileTest, VocabulariesStayOutOfTheConfiguration) {
  GgufWriter writer;
  writer.array("layers", GgufType::I32, std::vector<int32_t>(1024, 1));
  writer.array("vocabulary", GgufType::I32, std::vector<int32_t>(1025, 1));
  auto file = open(writer);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE((*file)->config().contains("layers"));
  EXPECT_FALSE((*file)->config().contains("vocabulary"));
  EXPECT_EQ((*file)->metadata().getInts("vocabulary")->size(), 1025u);
}

TEST_F(GgufFileTest, OtherAlignments) {
  for (uint64_t alignment : {1u, 8u, 4096u}) {
    GgufWriter writer;
    writer.alignment = alignment;
    writer.u32("general.alignment", static_cast<uint32_t>(alignment));
    writer.tensor("a", NumberFormat::I8, {3}, "aaa");
    writer.tensor("b", NumberFormat::I8, {2}, "bb");
    auto file = open(writer);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ((*file)->find("b")->bytes[1], std::byte{'b'});
  }
  GgufWriter writer;
  writer.u32("general.alignment", 24);
  EXPECT_THAT(messageOf(open(writer).status()), HasSubstr("power of two"));
}

class GgufSplitTest : public GgufFileTest {
protected:
  GgufWriter part(int number, int count, int tensors) {
    GgufWriter writer;
    writer.scalar<uint16_t>("split.no", GgufType::U16, number);
    writer.scalar<uint16_t>("split.count", GgufType::U16, count);
    writer.scalar<int32_t>("split.tensors.count", GgufType::I32, tensors);
    return writer;
  }
  std::string name(int number, int count) {
    return "m-0000" + std::to_string(number) + "-of-0000" +
           std::to_string(count) + ".gguf";
  }
};

TEST_F(GgufSplitTest, PartsAreJoined) {
  // The first part often has metadata alone.
  std::string first =
      directory.write(name(1, 3), part(0, 3, 2).u32("layers", 5).bytes());
  directory.write(
      name(2, 3),
      part(1, 3, 2).tensor("a", NumberFormat::I8, {1}, "a").bytes());
  directory.write(
      name(3, 3),
      part(2, 3, 2).tensor("b", NumberFormat::I8, {1}, "b").bytes());
  auto file = GgufFile::open(first);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->find("a")->bytes[0], std::byte{'a'});
  EXPECT_EQ((*file)->find("b")->bytes[0], std::byte{'b'});
  EXPECT_EQ((*file)->config()["layers"], 5);
  EXPECT_EQ((*file)->files().size(), 3u);

  EXPECT_THAT(
      messageOf(GgufFile::open(directory.file(name(2, 3))).status()),
      HasSubstr("open the first, whose name ends in '-00001-of-00003.gguf'"));
}

TEST_F(GgufSplitTest, WrongSetsAreRefused) {
  std::string first = directory.write(
      name(1, 2),
      part(0, 2, 2).tensor("a", NumberFormat::I8, {1}, "a").bytes());
  std::string second = directory.file(name(2, 2));
  auto problem = [&] { return messageOf(GgufFile::open(first).status()); };

  EXPECT_THAT(problem(), HasSubstr(second)); // missing
  part(0, 2, 2).tensor("b", NumberFormat::I8, {1}, "b").write(second);
  EXPECT_THAT(problem(), HasSubstr("says that it is part 1 of 2"));
  part(1, 2, 2).tensor("a", NumberFormat::I8, {1}, "b").write(second);
  EXPECT_THAT(problem(), HasSubstr("'a' is there twice"));
  part(1, 2, 2).write(second);
  EXPECT_THAT(problem(), HasSubstr("says 2 tensors, but the files hold 1"));
  part(1, 2, 2).tensor("b", NumberFormat::I8, {1}, "b").write(second);
  EXPECT_EQ(problem(), "");

  std::filesystem::rename(first, directory.file("renamed.gguf"));
  EXPECT_THAT(
      messageOf(GgufFile::open(directory.file("renamed.gguf")).status()),
      HasSubstr("must end in '-00001-of-00002.gguf'"));
}

TEST(GgufFile, PublishedVocabularies) {
  const char *given = std::getenv("QUIRE_SHARED");
  std::filesystem::path tokenizers =
      std::filesystem::path(given ? given : QUIRE_SHARED_DEFAULT) /
      "tokenizers";
  if (!std::filesystem::is_directory(tokenizers)) {
    GTEST_SKIP() << "no " << tokenizers << "; set QUIRE_SHARED";
  }
  int opened = 0;
  for (const auto &entry : std::filesystem::directory_iterator(tokenizers)) {
    if (entry.path().extension() != ".gguf") {
      continue;
    }
    auto file = GgufFile::open(entry.path().string());
    ASSERT_TRUE(file.ok()) << file.status();
    auto tokens = (*file)->metadata().getStrings("tokenizer.ggml.tokens");
    auto types = (*file)->metadata().getInts("tokenizer.ggml.token_type");
    ASSERT_TRUE(tokens.ok()) << tokens.status();
    ASSERT_TRUE(types.ok()) << types.status();
    EXPECT_GT(tokens->size(), 30000u);
    EXPECT_EQ(types->size(), tokens->size());
    ++opened;
  }
  EXPECT_GT(opened, 0);
}

} // namespace
