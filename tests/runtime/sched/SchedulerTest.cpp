// The scheduler's rules, one by one, without an engine.

#include "runtime/sched/Scheduler.h"

#include "gtest/gtest.h"

namespace quire {
namespace {

class SchedulerTest : public testing::Test {
protected:
  void start(int64_t tokens, SchedulerOptions options) {
    CacheGroup group{.name = "all",
                     .layers = 1,
                     .kvHeads = 1,
                     .keyDim = 8,
                     .valueDim = 8,
                     .format = "f32",
                     .pageSize = 4,
                     .window = 0,
                     .pageBytes = 256};
    pool = BlockPool::create({group}, tokens).value();
    scheduler = std::make_unique<Scheduler>(*pool, options);
  }
  Sequence &add(int64_t promptTokens) {
    sequences.push_back(std::make_unique<Sequence>(
        *pool, sequences.size() + 1, std::vector<int32_t>(promptTokens, 1),
        SamplingParams{}, 1000));
    scheduler->add(*sequences.back());
    return *sequences.back();
  }
  /// Schedules and plays a model that always gives a next token.
  SchedulePlan run() {
    SchedulePlan plan = scheduler->schedule();
    for (const ScheduledRows &rows : plan.rows) {
      rows.sequence->computed = rows.end;
      if (rows.end == rows.sequence->length()) {
        rows.sequence->tokens.push_back(1);
      }
    }
    return plan;
  }

  std::unique_ptr<BlockPool> pool;
  std::unique_ptr<Scheduler> scheduler;
  std::vector<std::unique_ptr<Sequence>> sequences;
};

TEST_F(SchedulerTest, PromptsAreCutToTheBudget) {
  start(100, {.maxBatchTokens = 8, .maxSequences = 4});
  add(20);
  EXPECT_EQ(run().rows[0].end, 8);
  EXPECT_EQ(run().rows[0].end, 16);
  EXPECT_EQ(run().rows[0].end, 20);
  EXPECT_EQ(run().rows[0].end, 21);
}

TEST_F(SchedulerTest, DecodingComesFirstAndPromptsTakeTheRest) {
  start(100, {.maxBatchTokens = 8, .maxSequences = 4});
  Sequence &decoding = add(4);
  run();
  Sequence &prompt = add(20);
  SchedulePlan plan = run();
  ASSERT_EQ(plan.rows.size(), 2u);
  EXPECT_EQ(plan.rows[0].sequence, &decoding);
  EXPECT_EQ(plan.rows[0].end - plan.rows[0].begin, 1);
  EXPECT_EQ(plan.rows[1].sequence, &prompt);
  EXPECT_EQ(plan.rows[1].end, 7);
}

TEST_F(SchedulerTest, NobodyOvertakesInTheWaitingLine) {
  start(32, {.maxBatchTokens = 64, .maxSequences = 8});
  add(20);
  Sequence &large = add(16);
  Sequence &small = add(2);
  EXPECT_EQ(run().rows.size(), 1u);
  EXPECT_EQ(large.state, SequenceState::Waiting);
  EXPECT_EQ(small.state, SequenceState::Waiting);
  scheduler->remove(*sequences[0]);
  EXPECT_EQ(run().rows.size(), 2u);
}

TEST_F(SchedulerTest, NoMoreThanMaxSequencesRun) {
  start(100, {.maxBatchTokens = 64, .maxSequences = 2});
  for (int i = 0; i < 5; ++i) {
    add(3);
  }
  EXPECT_EQ(run().rows.size(), 2u);
  EXPECT_EQ(scheduler->running(), 2);
  EXPECT_EQ(scheduler->waiting(), 3);
}

TEST_F(SchedulerTest, TheYoungestGivesItsPagesBack) {
  start(24, {.maxBatchTokens = 64, .maxSequences = 4});
  Sequence &oldest = add(8);
  Sequence &youngest = add(8);
  int64_t preempted = 0;
  for (int i = 0; i < 12; ++i) {
    preempted += run().preempted;
  }
  EXPECT_GE(preempted, 1);
  EXPECT_EQ(oldest.preemptions, 0);
  EXPECT_EQ(oldest.length(), 8 + 12) << "it went on in every step";
  EXPECT_EQ(youngest.state, SequenceState::Waiting);
  EXPECT_EQ(youngest.computed, 0);
  int64_t before = youngest.length();
  scheduler->remove(oldest);
  EXPECT_EQ(run().rows[0].end, before) << "recomputes all its tokens";
  EXPECT_TRUE(pool->checkBalance().ok());
}

TEST_F(SchedulerTest, APreemptedSequenceLeavesThePlanOfItsStep) {
  // The younger decodes first in each step; when the older one's prompt then
  // needs its page, the rows already planned for it must go.
  start(28, {.maxBatchTokens = 4, .maxSequences = 2});
  Sequence &older = add(20);
  scheduler->remove(older);
  Sequence &younger = add(4);
  run();
  scheduler->add(older);
  int64_t preempted = 0;
  for (int i = 0; i < 8; ++i) {
    SchedulePlan plan = run();
    preempted += plan.preempted;
    for (const ScheduledRows &rows : plan.rows) {
      EXPECT_EQ(rows.sequence->state, SequenceState::Running);
    }
  }
  EXPECT_EQ(preempted, 1);
  EXPECT_EQ(younger.preemptions, 1);
}

TEST_F(SchedulerTest, AdmissionCountsWhatRunningPromptsStillNeed) {
  start(32, {.maxBatchTokens = 4, .maxSequences = 4});
  add(20);
  run(); // one page of five is taken
  Sequence &second = add(16);
  run();
  EXPECT_EQ(second.state, SequenceState::Waiting);
}

} // namespace
} // namespace quire
