// Engines that are cut short, damaged, of another version or absurd: refused
// with one clear sentence when they are opened, never run.

#include "runtime/engine/ManifestFile.h"
#include "tests/e2e/DamagedCopy.h"
#include "tests/e2e/Harness.h"
#include "tests/e2e/Program.h"

#include "gtest/gtest.h"

#include <functional>

namespace quire::e2e {
namespace {

constexpr const char *kManifest = "manifest.pb";

class MalformedEngineTest : public testing::Test {
protected:
  /// Tokenizer, code, weights and manifest all have a part in this.
  Outcome use() {
    return runProgram(
        {kQuire, "run", engine.path(), "-p", "Once upon", "-n", "2"},
        {.seconds = 10});
  }
  void expectRefused(const std::string &what) {
    EXPECT_EQ(faultOf(use(), 1), "") << what;
  }
  void expectRefusedOrUsed(const std::string &what) {
    Outcome outcome = use();
    if (outcome.status != 0) {
      EXPECT_EQ(faultOf(outcome, 1), "") << what;
    }
  }

  /// Refused after `change`, though the manifest's checksum is right.
  void expectRefusedManifest(
      const std::string &what,
      const std::function<void(manifest::Manifest &)> &change) {
    manifest::Manifest manifest = original;
    change(manifest);
    engine.write(kManifest, encodeManifest(manifest));
    expectRefused(what);
  }

  static manifest::Manifest decode(const std::string &bytes) {
    auto manifest = decodeManifest(std::as_bytes(std::span(bytes)));
    EXPECT_TRUE(manifest.ok()) << manifest.status();
    return manifest.ok() ? *std::move(manifest) : manifest::Manifest();
  }

  DamagedCopy engine{tinyEngine()};
  manifest::Manifest original = decode(engine.read(kManifest));
  std::string code = original.code(0).object().path();
  std::string weights = original.weights().file().path();
  std::string tokenizer = original.tokenizer().path();
};

TEST_F(MalformedEngineTest, CutFiles) {
  for (const std::string &file :
       {std::string(kManifest), code, weights, tokenizer}) {
    int64_t size = engine.sizeOf(file);
    for (int64_t length :
         {size - 1, size - 4096, size * 3 / 4, size / 2, size / 7, size / 100,
          int64_t(64), int64_t(8), int64_t(1), int64_t(0)}) {
      if (length >= 0) {
        engine.truncate(file, length);
        expectRefused(file + " cut to " + std::to_string(length));
      }
    }
    engine.restore(file);
  }
}

TEST_F(MalformedEngineTest, MissingFiles) {
  for (const std::string &file :
       {std::string(kManifest), code, weights, tokenizer}) {
    engine.remove(file);
    expectRefused("without " + file);
    std::filesystem::create_directory(engine.fileOf(file));
    expectRefused("a directory in the place of " + file);
    engine.restore(file);
  }
}

TEST_F(MalformedEngineTest, FlippedBits) {
  for (const std::string &file : {std::string(kManifest), code, tokenizer}) {
    for (int64_t i = 0; i < 12; ++i) {
      int64_t position = i * (engine.sizeOf(file) - 1) / 11;
      engine.flip(file, position, 1 << i % 8);
      expectRefused("bit flipped in byte " + std::to_string(position) + " of " +
                    file);
      engine.flip(file, position, 1 << i % 8);
    }
  }
}

TEST_F(MalformedEngineTest, FlippedWeightsAreFoundByVerify) {
  std::vector<std::string> verify = {kQuire, "inspect", engine.path(),
                                     "--verify"};
  EXPECT_EQ(runProgram(verify).status, 0);
  for (int64_t i = 0; i < 6; ++i) {
    int64_t position = i * (engine.sizeOf(weights) - 1) / 5;
    engine.flip(weights, position, 0x40);
    EXPECT_EQ(faultOf(runProgram(verify), 1), "") << "byte " << position;
    expectRefusedOrUsed("weights flipped at " + std::to_string(position));
    engine.flip(weights, position, 0x40);
  }
}

TEST_F(MalformedEngineTest, OtherVersions) {
  expectRefusedManifest("a later schema", [](manifest::Manifest &manifest) {
    manifest.set_schema_version(kManifestSchemaVersion + 1);
  });
  expectRefusedManifest("no schema", [](manifest::Manifest &manifest) {
    manifest.set_schema_version(0);
  });
  expectRefusedManifest("another step ABI", [](manifest::Manifest &manifest) {
    manifest.set_step_abi_version(manifest.step_abi_version() + 1);
  });
}

TEST_F(MalformedEngineTest, AbsurdManifests) {
  for (int64_t absurd : {int64_t(-1), int64_t(1) << 40, INT64_MAX, INT64_MIN}) {
    std::string value = std::to_string(absurd);
    auto expect = [&](const char *what, auto set) {
      expectRefusedManifest(what + (" = " + value), set);
    };
    expect("vocabulary",
           [&](auto &m) { m.mutable_model()->set_vocabulary(absurd); });
    expect("batch tokens",
           [&](auto &m) { m.mutable_model()->set_max_batch_tokens(absurd); });
    expect("logit rows",
           [&](auto &m) { m.mutable_model()->set_max_logit_rows(absurd); });
    expect("arena", [&](auto &m) { m.set_arena_bytes(absurd); });
    expect("scratch", [&](auto &m) { m.set_scratch_bytes(absurd); });
    expect("page size",
           [&](auto &m) { m.mutable_cache_groups(0)->set_page_size(absurd); });
    expect("page bytes",
           [&](auto &m) { m.mutable_cache_groups(0)->set_page_bytes(absurd); });
    expect("weight bytes", [&](auto &m) {
      m.mutable_weights()->mutable_file()->set_bytes(absurd);
    });
    expect("weight offset", [&](auto &m) {
      m.mutable_weights()->mutable_entries(0)->set_offset(absurd);
    });
  }
}

TEST_F(MalformedEngineTest, ManifestsWithoutParts) {
  expectRefusedManifest("no code", [](auto &m) { m.clear_code(); });
  expectRefusedManifest("no cache groups",
                        [](auto &m) { m.clear_cache_groups(); });
  expectRefusedManifest("no weights", [](auto &m) { m.clear_weights(); });
  expectRefusedManifest("no model", [](auto &m) { m.clear_model(); });
  expectRefusedManifest("code of an unknown ISA level",
                        [](auto &m) { m.mutable_code(0)->set_isa("z80"); });
  for (const char *path : {"../outside", "/etc/passwd", "", "."}) {
    expectRefusedManifest(
        std::string("weights at '") + path + "'",
        [&](auto &m) { m.mutable_weights()->mutable_file()->set_path(path); });
  }
  engine.write(kManifest, encodeManifest({}));
  expectRefused("an empty manifest");
}

} // namespace
} // namespace quire::e2e
