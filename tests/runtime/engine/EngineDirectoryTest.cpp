// Opening engines: a good one opens; every damaged one is refused with a
// sentence that names what is wrong.

#include "runtime/engine/EngineDirectory.h"
#include "runtime/engine/IsaLevel.h"
#include "runtime/engine/ManifestFile.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace quire {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string readFile(const fs::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void writeFile(const fs::path &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

manifest::File fileEntry(const std::string &name, const std::string &bytes) {
  manifest::File file;
  file.set_path(name);
  file.set_bytes(bytes.size());
  file.set_xxh3(contentHash(std::as_bytes(std::span(bytes))));
  return file;
}

class EngineDirectoryTest : public testing::Test {
protected:
  void SetUp() override {
    root = fs::temp_directory_path() /
           ("quire-engine-" + std::to_string(getpid()) + "-" +
            testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(root);
    std::string code = readFile(QUIRE_TOY_CODE);
    std::string weights(4096, 'w');
    writeFile(root / "portable.so", code);
    writeFile(root / "weights.bin", weights);
    manifest.set_schema_version(kManifestSchemaVersion);
    manifest.set_step_abi_version(kStepAbiVersion);
    manifest::Model *model = manifest.mutable_model();
    model->set_vocabulary(64);
    model->set_max_context(128);
    model->set_max_batch_tokens(32);
    model->set_max_logit_rows(8);
    manifest::Code *entry = manifest.add_code();
    entry->set_isa("portable");
    *entry->mutable_object() = fileEntry("portable.so", code);
    *manifest.mutable_weights()->mutable_file() =
        fileEntry("weights.bin", weights);
    manifest::CacheGroup *group = manifest.add_cache_groups();
    group->set_name("global");
    group->set_layers(2);
    group->set_kv_heads(1);
    group->set_key_dim(8);
    group->set_value_dim(8);
    group->set_format("f32");
    group->set_page_size(4);
    group->set_page_bytes(2 * 256);
    manifest.set_arena_bytes(1024);
    save();
  }
  void TearDown() override { fs::remove_all(root); }

  void save() { writeFile(root / kManifestFileName, encodeManifest(manifest)); }
  std::string openError(const EngineOpenOptions &options = {}) {
    auto engine = EngineDirectory::open(root.string(), options);
    return engine.ok() ? "" : std::string(engine.status().message());
  }

  fs::path root;
  manifest::Manifest manifest;
};

TEST_F(EngineDirectoryTest, OpensAGoodEngine) {
  auto engine = EngineDirectory::open(root.string(), {.verifyWeights = true});
  ASSERT_TRUE(engine.ok()) << engine.status();
  EXPECT_EQ((*engine)->isa(), "portable");
  EXPECT_NE((*engine)->step(), nullptr);
  EXPECT_EQ((*engine)->weightBytes(), 4096);
  EXPECT_EQ((*engine)->manifest().model().vocabulary(), 64);
  Ledger ledger;
  (*engine)->addTo(ledger);
  EXPECT_EQ(ledger.bytesOf("weights"), 4096);
  EXPECT_THAT(ledger.print(), HasSubstr("weights.bin"));
}

TEST_F(EngineDirectoryTest, EveryTruncationOfTheManifestIsRefused) {
  std::string bytes = encodeManifest(manifest);
  for (size_t size = 0; size < bytes.size(); ++size) {
    std::string cut = bytes.substr(0, size);
    EXPECT_FALSE(decodeManifest(std::as_bytes(std::span(cut))).ok()) << size;
  }
}

TEST_F(EngineDirectoryTest, EveryFlippedByteOfTheManifestIsRefused) {
  std::string bytes = encodeManifest(manifest);
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] ^= 0x20;
    EXPECT_FALSE(decodeManifest(std::as_bytes(std::span(flipped))).ok()) << i;
  }
}

TEST_F(EngineDirectoryTest, RefusesOtherVersions) {
  manifest.set_schema_version(99);
  save();
  EXPECT_THAT(openError(), HasSubstr("schema version 99"));
  manifest.set_schema_version(kManifestSchemaVersion);
  manifest.set_step_abi_version(77);
  save();
  EXPECT_THAT(openError(), HasSubstr("step ABI 77"));
}

TEST_F(EngineDirectoryTest, RefusesDamagedFiles) {
  std::string code = readFile(root / "portable.so");
  code[code.size() / 2] ^= 1;
  writeFile(root / "portable.so", code);
  EXPECT_THAT(openError(), HasSubstr("checksum of the code"));
  EXPECT_EQ(openError({.loadCode = false}), "");
  std::string weights(4096, 'x');
  writeFile(root / "weights.bin", weights);
  EXPECT_EQ(openError({.loadCode = false}), "") << "checked only on request";
  EXPECT_THAT(openError({.loadCode = false, .verifyWeights = true}),
              HasSubstr("checksum of the weight file"));
  writeFile(root / "weights.bin", weights.substr(1));
  EXPECT_THAT(openError({.loadCode = false}), HasSubstr("4095"));
}

TEST_F(EngineDirectoryTest, RefusesWhatThisCpuCannotRun) {
  EXPECT_THAT(openError({.isa = "avx1024"}), HasSubstr("avx1024"));
  manifest.mutable_code(0)->set_isa("riscv");
  save();
  EXPECT_THAT(openError(), HasSubstr("code for riscv"));
}

TEST_F(EngineDirectoryTest, RefusesSizesThatDoNotFit) {
  struct Case {
    const char *expected;
    void (*damage)(manifest::Manifest &);
  };
  const Case cases[] = {
      {"model.vocabulary",
       [](manifest::Manifest &m) { m.mutable_model()->set_vocabulary(0); }},
      {"max_logit_rows",
       [](manifest::Manifest &m) {
         m.mutable_model()->set_max_logit_rows(33);
       }},
      {"page_bytes",
       [](manifest::Manifest &m) {
         m.mutable_cache_groups(0)->set_page_bytes(64);
       }},
      {"format",
       [](manifest::Manifest &m) {
         m.mutable_cache_groups(0)->set_format("f17");
       }},
      {"materialised_block",
       [](manifest::Manifest &m) {
         m.mutable_model()->set_materialised_block(6);
       }},
      {"materialised_block",
       [](manifest::Manifest &m) {
         m.mutable_model()->set_materialised_block(-4);
       }},
      {"leaves the engine directory",
       [](manifest::Manifest &m) {
         m.mutable_weights()->mutable_file()->set_path("../weights.bin");
       }},
      {"outside",
       [](manifest::Manifest &m) {
         auto *entry = m.mutable_weights()->add_entries();
         entry->set_name("w");
         entry->set_offset(4000);
         entry->set_bytes(100);
       }},
      {"arena",
       [](manifest::Manifest &m) { m.add_buffers()->set_bytes(1025); }},
  };
  for (const Case &test : cases) {
    manifest::Manifest damaged = manifest;
    test.damage(damaged);
    EXPECT_THAT(checkManifest(damaged).message(), HasSubstr(test.expected));
  }
}

TEST_F(EngineDirectoryTest, RefusesWhatIsNoEngine) {
  fs::remove(root / kManifestFileName);
  EXPECT_THAT(openError(), HasSubstr("not an engine directory"));
}

TEST(IsaLevelTest, KnowsItself) {
  EXPECT_TRUE(cpuSupportsIsa("portable"));
  EXPECT_TRUE(cpuSupportsIsa(bestIsaOfCpu()));
  EXPECT_FALSE(cpuSupportsIsa("sparc"));
}

} // namespace
} // namespace quire
