// Memory is accounted to the byte: the ledger's rows follow from the model by
// hand calculation, its sum is what the engine maps, and all else stays small.

#include "tests/e2e/Harness.h"
#include "tests/runtime/EngineHarness.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace quire::e2e {
namespace {

/// A field of /proc/self/status in bytes.
int64_t ownMemory(const std::string &field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":")) {
      return std::stoll(line.substr(field.size() + 1)) * 1024;
    }
  }
  return 0;
}

/// Bytes that the process has mapped, by /proc/self/statm.
int64_t mappedBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0;
  file >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

struct CacheFormat {
  const char *name;
  int64_t bytes;
};

TEST(MemoryTest, CacheBytesPerToken) {
  for (CacheFormat format : {CacheFormat{"f32", 4}, {"f16", 2}, {"bf16", 2}}) {
    for (int64_t pageSize : {1, 16}) {
      auto engine = load(tinyEngine({"--kv", format.name, "--page-size",
                                     std::to_string(pageSize)}),
                         {.threads = 1, .cacheTokens = 1000});
      ASSERT_NE(engine, nullptr);
      // 2 x layers x KV heads x head size x bytes
      int64_t perToken = int64_t(2) * 6 * 2 * 32 * format.bytes;
      const manifest::CacheGroup &group =
          engine->engineDirectory()->manifest().cache_groups(0);
      EXPECT_EQ(group.bytes_per_token(), perToken) << format.name;
      EXPECT_EQ(group.page_bytes(), perToken * pageSize) << format.name;
      int64_t tokens = (1000 + pageSize - 1) / pageSize * pageSize;
      EXPECT_EQ(engine->ledger().bytesOf("cache"), tokens * perToken);
      EXPECT_EQ(engine->stats().cache.totalBytes, tokens * perToken);
    }
  }
}

TEST(MemoryTest, LedgerIsWhatIsMapped) {
  std::string path = tinyEngine();
  ASSERT_FALSE(path.empty());
  // Once before, so that what libraries allocate for good is there.
  load(path);
  int64_t before = mappedBytes();
  // Large enough for the cache and the arena to stand out.
  auto engine = load(path, {.threads = 1, .cacheTokens = 100000});
  ASSERT_NE(engine, nullptr);
  int64_t grown = mappedBytes() - before;
  Ledger ledger = engine->ledger();
  int64_t sum = 0;
  for (const LedgerEntry &entry : ledger.entries()) {
    EXPECT_FALSE(entry.formula.empty()) << entry.name;
    EXPECT_GE(entry.bytes, 0) << entry.name;
    sum += entry.bytes;
  }
  EXPECT_EQ(sum, ledger.totalBytes());
  // Beside the ledger: code, bookkeeping, rounding to pages.
  EXPECT_GE(grown, sum - (1 << 20));
  EXPECT_LE(grown, sum + (50 << 20)) << ledger.print();
  EXPECT_EQ(ledger.bytesOf("weights"),
            int64_t(std::filesystem::file_size(path + "/weights.bin")));
  const manifest::Manifest &manifest = engine->engineDirectory()->manifest();
  int64_t executor =
      manifest.arena_bytes() + manifest.model().max_logit_rows() * 2048 * 4;
  EXPECT_GE(ledger.bytesOf("executor"), executor);
}

TEST(MemoryTest, ResidentMemoryStaysWithinTheLedger) {
  int64_t before = ownMemory("VmRSS");
  auto engine = load(tinyEngine(), {.threads = 2, .cacheTokens = 20000});
  ASSERT_NE(engine, nullptr);
  for (uint64_t i = 0; i < 12; ++i) {
    ASSERT_TRUE(engine->submit(toy::makeRequest(tinyTokens(300, i), 20)).ok());
  }
  toy::runDry(*engine);
  EXPECT_LE(ownMemory("VmRSS") - before,
            engine->ledger().totalBytes() + (50 << 20));
}

TEST(MemoryTest, WhatDoesNotFitIsRefused) {
  std::string path = tinyEngine();
  ASSERT_FALSE(path.empty());
  for (int64_t tokens : {int64_t(1) << 33, int64_t(1) << 50, INT64_MAX}) {
    auto engine = Engine::load(path, {.threads = 1, .cacheTokens = tokens});
    EXPECT_FALSE(engine.ok()) << tokens;
  }
}

TEST(MemoryTest, ArenaIsNearItsPeak) {
  auto directory = EngineDirectory::open(tinyEngine(), {.loadCode = false});
  ASSERT_TRUE(directory.ok()) << directory.status();
  const manifest::Manifest &manifest = (*directory)->manifest();
  int64_t end = 0, sum = 0;
  for (const manifest::Buffer &buffer : manifest.buffers()) {
    EXPECT_FALSE(buffer.formula().empty()) << buffer.name();
    end = std::max(end, buffer.offset() + buffer.bytes());
    sum += buffer.bytes();
  }
  EXPECT_LE(end, manifest.arena_bytes());
  // Buffers that live at different times share their place.
  EXPECT_LT(manifest.arena_bytes(), sum);
}

} // namespace
} // namespace quire::e2e
