// Pages: counting, sharing, copy-on-write, windows, several groups on one
// arena.

#include "runtime/kv/BlockPool.h"
#include "runtime/kv/PageTable.h"

#include "gtest/gtest.h"

#include <cstring>
#include <random>

namespace quire {
namespace {

CacheGroup group(std::string name, int64_t layers, int64_t pageSize,
                 int64_t window = 0) {
  CacheGroup result;
  result.name = std::move(name);
  result.layers = layers;
  result.kvHeads = 1;
  result.keyDim = result.valueDim = 8;
  result.format = "f32";
  result.pageSize = pageSize;
  result.window = window;
  result.pageBytes = layers * pageSize * 64;
  return result;
}

std::unique_ptr<BlockPool> makePool(std::vector<CacheGroup> groups,
                                    int64_t tokens) {
  auto pool = BlockPool::create(std::move(groups), tokens);
  EXPECT_TRUE(pool.ok()) << pool.status();
  return *std::move(pool);
}

TEST(BlockPoolTest, OneGroupHasPagesAsSlabs) {
  auto pool = makePool({group("all", 2, 4)}, 28);
  EXPECT_EQ(pool->slabCount(), 7);
  EXPECT_EQ(pool->slabBytes(), 2 * 4 * 64);
  Ledger ledger;
  pool->addTo(ledger);
  EXPECT_EQ(ledger.totalBytes(), 7 * 2 * 4 * 64);
  EXPECT_EQ(pool->balance().totalBytes, ledger.totalBytes());
  EXPECT_EQ(pool->capacityTokens(1000), 28);
  EXPECT_EQ(pool->capacityTokens(20), 20);
}

TEST(BlockPoolTest, RunsOutAndRecovers) {
  auto pool = makePool({group("all", 1, 4)}, 8);
  PageId a = pool->allocate(0);
  PageId b = pool->allocate(0);
  EXPECT_NE(a, b);
  EXPECT_EQ(pool->allocate(0), kNoPage);
  pool->addReference(0, a);
  pool->release(0, a);
  EXPECT_EQ(pool->allocate(0), kNoPage) << "still referenced";
  pool->release(0, a);
  EXPECT_EQ(pool->allocate(0), a);
  EXPECT_TRUE(pool->checkBalance().ok());
}

TEST(BlockPoolTest, ADoubleReleaseIsSeen) {
  auto pool = makePool({group("all", 1, 4)}, 8);
  PageId a = pool->allocate(0);
  PageId b = pool->allocate(0);
  pool->addReference(0, b);
  pool->release(0, a);
  EXPECT_TRUE(pool->checkBalance().ok());
  pool->release(0, a);
  EXPECT_FALSE(pool->checkBalance().ok());
}

TEST(BlockPoolTest, RefusesNonsense) {
  EXPECT_FALSE(BlockPool::create({}, 4).ok());
  EXPECT_FALSE(BlockPool::create({group("all", 1, 4)}, 0).ok());
  EXPECT_FALSE(BlockPool::create({group("all", 1, 16)}, int64_t{1} << 40).ok());
}

TEST(BlockPoolTest, GroupsShareTheArena) {
  // Pages of 5 and 1 units: a slab is one page of the first or five of the
  // second.
  auto pool = makePool({group("window", 5, 4, 8), group("global", 1, 4)}, 40);
  int64_t slabs = pool->slabCount();
  EXPECT_EQ(pool->slabBytes(), 5 * 4 * 64);
  std::vector<PageId> small;
  for (PageId page = pool->allocate(1); page != kNoPage;
       page = pool->allocate(1)) {
    small.push_back(page);
  }
  EXPECT_EQ(static_cast<int64_t>(small.size()), slabs * 5);
  EXPECT_EQ(pool->allocate(0), kNoPage);
  for (PageId page : small) {
    pool->release(1, page);
  }
  PageId large = pool->allocate(0);
  ASSERT_NE(large, kNoPage) << "an empty slab serves any group";
  EXPECT_EQ(pool->pageData(0, large) - pool->base(), large * 5 * 4 * 64);
  EXPECT_TRUE(pool->checkBalance().ok());
}

TEST(BlockPoolTest, RandomTrafficKeepsTheBalanceAndPagesDisjoint) {
  auto pool = makePool({group("a", 3, 4), group("b", 2, 4)}, 64);
  std::mt19937 random(7);
  std::vector<std::pair<int, PageId>> held;
  for (int step = 0; step < 4000; ++step) {
    if (held.empty() || random() % 5 < 3) {
      int g = random() % 2;
      if (PageId page = pool->allocate(g); page != kNoPage) {
        std::memset(pool->pageData(g, page), static_cast<int>(held.size()),
                    pool->groups()[g].pageBytes);
        std::memcpy(pool->pageData(g, page), &step, sizeof(step));
        held.push_back({g, page});
      }
    } else {
      size_t pick = random() % held.size();
      pool->release(held[pick].first, held[pick].second);
      held.erase(held.begin() + pick);
    }
    ASSERT_TRUE(pool->checkBalance().ok()) << pool->checkBalance();
  }
  std::vector<std::pair<std::byte *, std::byte *>> ranges;
  for (auto [g, page] : held) {
    std::byte *begin = pool->pageData(g, page);
    ranges.push_back({begin, begin + pool->groups()[g].pageBytes});
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i) {
    EXPECT_LE(ranges[i - 1].second, ranges[i].first);
  }
}

TEST(PageTableTest, GrowsByPagesAndGivesThemBack) {
  auto pool = makePool({group("all", 1, 4)}, 16);
  {
    PageTable table(*pool);
    EXPECT_TRUE(table.reserve(0, 5));
    EXPECT_EQ(table.pages(0).size(), 2u);
    EXPECT_TRUE(table.reserve(5, 8));
    EXPECT_EQ(table.pages(0).size(), 2u);
    EXPECT_FALSE(table.reserve(8, 17));
    EXPECT_EQ(table.pages(0).size(), 2u) << "a refusal changes nothing";
    table.truncate(4);
    EXPECT_EQ(pool->usedPages(0), 1);
  }
  EXPECT_EQ(pool->usedPages(0), 0);
  EXPECT_TRUE(pool->checkBalance().ok());
}

TEST(PageTableTest, WritingASharedPageCopiesIt) {
  auto pool = makePool({group("all", 1, 4)}, 16);
  PageTable first(*pool);
  ASSERT_TRUE(first.reserve(0, 6));
  std::memset(pool->pageData(0, first.pages(0)[1]), 42, 256);
  PageTable second = first.fork();
  EXPECT_EQ(pool->usedPages(0), 2);
  EXPECT_EQ(second.neededFor(6, 7)[0], 1);
  ASSERT_TRUE(second.reserve(6, 7));
  EXPECT_EQ(second.pages(0)[0], first.pages(0)[0]) << "full page: shared";
  EXPECT_NE(second.pages(0)[1], first.pages(0)[1]) << "partial page: copied";
  EXPECT_EQ(std::memcmp(pool->pageData(0, first.pages(0)[1]),
                        pool->pageData(0, second.pages(0)[1]), 256),
            0);
  EXPECT_EQ(first.neededFor(6, 7)[0], 0) << "the last holder writes in place";
  EXPECT_EQ(pool->references(0, first.pages(0)[0]), 2);
  EXPECT_EQ(pool->references(0, first.pages(0)[1]), 1);
}

TEST(PageTableTest, PagesRememberTheFormOfTheirTokens) {
  EXPECT_EQ(materialisedTokens(23, 8), 16);
  EXPECT_EQ(materialisedTokens(7, 8), 0);
  EXPECT_EQ(materialisedTokens(24, 0), 0) << "a model with one form";
  auto pool = makePool({group("all", 1, 4)}, 64);
  PageTable table(*pool, materialisedTokens(23, 8));
  ASSERT_TRUE(table.reserve(0, 10));
  ASSERT_TRUE(table.reserve(10, 23));
  const std::vector<PageId> &pages = table.pages(0);
  for (size_t i = 0; i < pages.size(); ++i) {
    EXPECT_EQ(pool->formOf(0, pages[i]),
              i < 4 ? kQuireMaterialised : kQuireLatent);
  }
  EXPECT_EQ(table.formOf(15), kQuireMaterialised);
  EXPECT_EQ(table.formOf(16), kQuireLatent);
  // A copied page keeps it, and a page that comes back is noted anew.
  PageTable other = table.fork();
  ASSERT_TRUE(other.reserve(12, 13));
  EXPECT_NE(other.pages(0)[3], pages[3]);
  EXPECT_EQ(pool->formOf(0, other.pages(0)[3]), kQuireMaterialised);
  other.clear();
  table.clear();
  PageTable generated(*pool);
  ASSERT_TRUE(generated.reserve(0, 64));
  for (PageId page : generated.pages(0)) {
    EXPECT_EQ(pool->formOf(0, page), kQuireLatent);
  }
}

TEST(PageTableTest, PagesOutsideTheWindowReturn) {
  auto pool = makePool({group("window", 1, 4, 6)}, 64);
  PageTable table(*pool);
  for (int64_t position = 0; position < 64; ++position) {
    ASSERT_TRUE(table.reserve(position, position + 1));
    for (int64_t seen = std::max<int64_t>(0, position - 5); seen <= position;
         ++seen) {
      ASSERT_NE(table.pages(0)[seen / 4], kNoPage);
    }
    EXPECT_LE(pool->usedPages(0), pool->groups()[0].peakPages(64));
    table.releaseBefore(position + 1);
  }
  EXPECT_EQ(table.pages(0)[0], kNoPage);
  PageTable copy = table.fork();
  table.clear();
  copy.clear();
  EXPECT_EQ(pool->usedPages(0), 0);
  EXPECT_TRUE(pool->checkBalance().ok());
}

} // namespace
} // namespace quire
