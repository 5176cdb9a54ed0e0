#include "frontends/formats/HuggingFaceDirectory.h"
#include "tests/support/GgufWriter.h"
#include "tests/support/SafetensorsWriter.h"
#include "tests/support/TemporaryDirectory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>
#include <filesystem>

using namespace quire;
using quire::test::SafetensorsWriter;
using testing::AllOf;
using testing::HasSubstr;

namespace {

constexpr const char *kFirst = "model-00001-of-00002.safetensors";
constexpr const char *kSecond = "model-00002-of-00002.safetensors";
constexpr const char *kIndex = "model.safetensors.index.json";

class HuggingFaceDirectoryTest : public testing::Test {
protected:
  HuggingFaceDirectoryTest() {
    directory.write("config.json", R"({"hidden_size": 4})");
  }

  void writeTensor(const char *file, const char *name, float value) {
    SafetensorsWriter().floats(name, {1}, {value}).write(directory.file(file));
  }
  /// Two shards with "a" = 1 and "b" = 2, and their index.
  void writeSharded() {
    writeTensor(kFirst, "a", 1);
    writeTensor(kSecond, "b", 2);
    writeIndex({{"a", kFirst}, {"b", kSecond}});
  }
  void writeIndex(const nlohmann::json &map) {
    nlohmann::json index = {{"metadata", {{"total_size", 8}}},
                            {"weight_map", map}};
    directory.write(kIndex, index.dump());
  }
  std::string problem() {
    return std::string(openCheckpoint(directory.path()).status().message());
  }
  static float valueOf(const Checkpoint &checkpoint, const char *name) {
    float value = 0;
    std::memcpy(&value, checkpoint.find(name)->bytes.data(), sizeof(value));
    return value;
  }

  test::TemporaryDirectory directory;
};

TEST_F(HuggingFaceDirectoryTest, SingleFile) {
  writeTensor("model.safetensors", "a", 3);
  directory.write("generation_config.json", R"({"eos_token_id": 2})");
  auto opened = HuggingFaceDirectory::open(directory.path());
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ((*opened)->kind(), CheckpointKind::HuggingFace);
  EXPECT_EQ((*opened)->config()["hidden_size"], 4);
  EXPECT_EQ(valueOf(**opened, "a"), 3);
  EXPECT_EQ((*(*opened)->readJson("generation_config.json"))["eos_token_id"],
            2);
  EXPECT_FALSE((*opened)->hasFile("tokenizer.json"));
  EXPECT_EQ((*opened)->readJson("tokenizer.json").status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(HuggingFaceDirectoryTest, Shards) {
  writeSharded();
  auto opened = openCheckpoint(directory.path());
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ((*opened)->tensors().size(), 2u);
  EXPECT_EQ(valueOf(**opened, "a"), 1);
  EXPECT_EQ(valueOf(**opened, "b"), 2);
}

// Download caches keep each file elsewhere and link to it.
TEST_F(HuggingFaceDirectoryTest, ShardsMayBeLinks) {
  writeSharded();
  test::TemporaryDirectory blobs;
  std::filesystem::rename(directory.file(kFirst), blobs.file("blob"));
  std::filesystem::create_symlink(blobs.file("blob"), directory.file(kFirst));
  EXPECT_EQ(problem(), "");
}

TEST_F(HuggingFaceDirectoryTest, Imp3MissingShard) {
  writeSharded();
  std::filesystem::remove(directory.file(kSecond));
  EXPECT_THAT(problem(), AllOf(HasSubstr(kSecond), HasSubstr("'b'")));
}

TEST_F(HuggingFaceDirectoryTest, Imp3ShardLacksATensor) {
  writeSharded();
  writeTensor(kSecond, "c", 2);
  EXPECT_THAT(problem(), AllOf(HasSubstr(kSecond), HasSubstr("'b'")));
}

TEST_F(HuggingFaceDirectoryTest, Imp3ExtraFilesAreIgnored) {
  writeSharded();
  writeTensor("extra.safetensors", "a", 9);
  writeTensor("model.safetensors", "a", 9);
  auto opened = openCheckpoint(directory.path());
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(valueOf(**opened, "a"), 1);
}

TEST_F(HuggingFaceDirectoryTest, Imp3TheIndexDecides) {
  writeSharded();
  SafetensorsWriter()
      .floats("a", {1}, {9})
      .floats("b", {1}, {2})
      .write(directory.file(kSecond));
  auto opened = openCheckpoint(directory.path());
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ((*opened)->tensors().size(), 2u);
  EXPECT_EQ(valueOf(**opened, "a"), 1);
  writeIndex({{"a", kSecond}, {"b", kSecond}});
  EXPECT_EQ(valueOf(**openCheckpoint(directory.path()), "a"), 9);
}

TEST_F(HuggingFaceDirectoryTest, Imp3NothingOutsideTheDirectory) {
  writeSharded();
  for (std::string shard :
       {"../x.safetensors", "/x.safetensors", "x/../y.safetensors",
        "..safetensors", "", "x.bin", "x\\y.safetensors"}) {
    writeIndex({{"a", shard}});
    EXPECT_THAT(problem(), AllOf(HasSubstr(kIndex), HasSubstr("'a'"))) << shard;
  }
  writeIndex({{"a", 3}});
  EXPECT_THAT(problem(), HasSubstr("'a' is said to be in number"));
  writeIndex({{"a", std::string("x\0.safetensors", 14)}});
  EXPECT_THAT(problem(), HasSubstr("'a'"));
}

TEST_F(HuggingFaceDirectoryTest, BadIndex) {
  directory.write(kIndex, "{}");
  EXPECT_THAT(problem(), AllOf(HasSubstr(kIndex), HasSubstr("'weight_map'")));
  directory.write(kIndex, "[");
  EXPECT_THAT(problem(), HasSubstr(kIndex));
}

TEST_F(HuggingFaceDirectoryTest, WithoutWeights) {
  EXPECT_THAT(problem(), HasSubstr("neither model.safetensors nor"));
  for (std::string path : {directory.path(), directory.file("config.json")}) {
    auto opened = HuggingFaceDirectory::openWithoutWeights(path);
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ((*opened)->config()["hidden_size"], 4);
    EXPECT_TRUE((*opened)->tensors().empty());
    EXPECT_TRUE((*opened)->hasFile("config.json"));
  }
}

TEST_F(HuggingFaceDirectoryTest, BadConfig) {
  writeTensor("model.safetensors", "a", 3);
  directory.write("config.json", "[]");
  EXPECT_THAT(problem(), HasSubstr("config.json': it is not a JSON object"));
  std::filesystem::remove(directory.file("config.json"));
  EXPECT_THAT(problem(), HasSubstr("config.json"));
}

TEST(OpenCheckpoint, GoesByWhatThePathIs) {
  test::TemporaryDirectory directory;
  test::GgufWriter().u32("a", 1).write(directory.file("m.gguf"));
  auto opened = openCheckpoint(directory.file("m.gguf"));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ((*opened)->kind(), CheckpointKind::Gguf);
  EXPECT_EQ((*opened)->path(), directory.file("m.gguf"));
  EXPECT_THAT(
      std::string(
          openCheckpoint(directory.write("m.bin", "x")).status().message()),
      HasSubstr("neither a directory"));
  EXPECT_EQ(openCheckpoint(directory.file("none")).status().code(),
            absl::StatusCode::kNotFound);
}

} // namespace
