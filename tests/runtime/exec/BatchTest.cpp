// The flat arrays of a step, chains and trees, run through the toy model.

#include "tests/runtime/ToyModel.h"

#include "gtest/gtest.h"

#include <algorithm>

namespace quire::toy {
namespace {

class BatchTest : public testing::Test {
protected:
  BatchTest()
      : pool(BlockPool::create(toy.model.cacheGroups, 64).value()),
        executor(
            Executor::create(toy.model.executor, *pool, workers()).value()),
        batch(pool->groups()) {}
  static WorkerPoolOptions workers() {
    WorkerPoolOptions options;
    options.workers = 2;
    return options;
  }
  void addPrompt(const PageTable &table, const std::vector<int32_t> &tokens) {
    int32_t index = batch.addSequence(table);
    for (int32_t i = 0; i < static_cast<int32_t>(tokens.size()); ++i) {
      batch.addRow(index, {.token = tokens[i], .position = i, .context = i});
    }
  }
  bool logitsAre(int64_t row, const std::vector<int32_t> &tokens,
                 int64_t promptLength) {
    std::vector<float> wanted = denseLogits(tokens, promptLength);
    std::span<const float> got = executor->logits(row);
    return std::equal(got.begin(), got.end(), wanted.begin());
  }

  ToyModel toy;
  std::unique_ptr<BlockPool> pool;
  std::unique_ptr<Executor> executor;
  Batch batch;
};

TEST_F(BatchTest, FlatArraysOfTwoSequences) {
  PageTable a(*pool);
  PageTable b(*pool);
  ASSERT_TRUE(a.reserve(0, 6));
  ASSERT_TRUE(b.reserve(0, 1));
  int32_t first = batch.addSequence(a);
  int32_t second = batch.addSequence(b);
  batch.addRow(first, {.token = 7,
                       .position = 5,
                       .context = 5,
                       .role = kQuireGenerated,
                       .wantsLogits = true});
  batch.addDeadRow();
  batch.addRow(second,
               {.token = 9, .form = kQuireMaterialised, .wantsLogits = true});
  const QuireBatch &view = batch.view();
  EXPECT_EQ(view.rows, 3);
  EXPECT_EQ(view.logitRows, 2);
  EXPECT_EQ(view.logitRow[1], 2);
  EXPECT_EQ(view.sequences, 2);
  EXPECT_EQ(view.maxPages, 2);
  EXPECT_EQ(view.slot[0][0], a.pages(0)[1] * 4 + 1);
  EXPECT_EQ(view.slot[0][1], -1);
  EXPECT_EQ(view.slot[0][2], b.pages(0)[0] * 4);
  EXPECT_EQ(view.pageTable[0][0], a.pages(0)[0]);
  EXPECT_EQ(view.pageTable[0][1], a.pages(0)[1]);
  EXPECT_EQ(view.pageTable[0][2], b.pages(0)[0]);
  EXPECT_EQ(view.pageTable[0][3], -1);
  EXPECT_EQ(view.role[0], kQuireGenerated);
  EXPECT_EQ(view.ancestorBegin[3], 0);
  ASSERT_EQ(view.formRows[kQuireLatent], 2);
  EXPECT_EQ(view.formRow[kQuireLatent][0], 0);
  EXPECT_EQ(view.formRow[kQuireLatent][1], 1) << "the dead row";
  ASSERT_EQ(view.formRows[kQuireMaterialised], 1);
  EXPECT_EQ(view.formRow[kQuireMaterialised][0], 2);
}

TEST_F(BatchTest, ATreeGivesWhatEachBranchGivesAlone) {
  // Five prompt tokens, then a tree: 20 with children 21 and 22, and 23
  // under 22. Rows at one position are stored at places of their own.
  std::vector<int32_t> prompt = {3, 1, 4, 1, 5};
  PageTable table(*pool);
  ASSERT_TRUE(table.reserve(0, 9));
  addPrompt(table, prompt);
  ASSERT_TRUE(executor->run(batch).ok());
  batch.clear();
  int32_t index = batch.addSequence(table);
  const int32_t root[] = {5};
  const int32_t underSecond[] = {5, 7};
  auto node = [&](int32_t token, int32_t position, int32_t place,
                  std::span<const int32_t> ancestors) {
    batch.addRow(index, {.token = token,
                         .position = position,
                         .context = 5,
                         .role = kQuireGenerated,
                         .wantsLogits = true,
                         .place = place,
                         .ancestors = ancestors});
  };
  // The toy's second layer stores what the first attention found, so even the
  // grandchild sees its ancestors' own hashes.
  node(20, 5, 5, {});
  node(21, 6, 6, root);
  node(22, 6, 7, root);
  node(23, 7, 8, underSecond);
  ASSERT_TRUE(executor->run(batch).ok());
  EXPECT_TRUE(logitsAre(0, {3, 1, 4, 1, 5, 20}, 5));
  EXPECT_TRUE(logitsAre(1, {3, 1, 4, 1, 5, 20, 21}, 5));
  EXPECT_TRUE(logitsAre(2, {3, 1, 4, 1, 5, 20, 22}, 5));
  EXPECT_TRUE(logitsAre(3, {3, 1, 4, 1, 5, 20, 22, 23}, 5));
}

TEST_F(BatchTest, TooManyRowsAreRefused) {
  EXPECT_FALSE(executor->run(batch).ok()) << "an empty batch";
  for (int i = 0; i < 65; ++i) {
    batch.addDeadRow();
  }
  EXPECT_FALSE(executor->run(batch).ok());
}

} // namespace
} // namespace quire::toy
