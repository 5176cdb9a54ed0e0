// From recorded samples to a step's profile.

#include "tools/cli/StepProfile.h"

#include "gtest/gtest.h"

namespace quire::cli {
namespace {

WorkerSample work(int32_t launch, int64_t layer, int64_t begin, int64_t end) {
  return {launch, false, layer, 1, begin, end};
}
WorkerSample wait(int32_t launch, int64_t layer, int64_t begin, int64_t end) {
  return {launch, true, layer, 0, begin, end};
}

/// A step of two layers from `at`, 1000 ns long: worker 0 works 200 and waits
/// 100 in launch 3 of each layer, then works 300 in launch 5; worker 1 comes
/// 100 late.
void addStep(StepRecord &record, int64_t at) {
  record.workers.resize(2);
  record.steps.push_back({1, 1, at, at + 1000});
  auto &first = record.workers[0];
  first.push_back(work(3, 0, at, at + 200));
  first.push_back(wait(3, 0, at + 200, at + 300));
  first.push_back(work(3, 1, at + 300, at + 500));
  first.push_back(wait(3, 1, at + 500, at + 600));
  first.push_back(work(5, -1, at + 600, at + 900));
  first.push_back(wait(5, -1, at + 900, at + 1000));
  auto &second = record.workers[1];
  second.push_back(work(3, 0, at + 100, at + 300));
  second.push_back(work(3, 1, at + 300, at + 600));
  second.push_back(work(5, -1, at + 600, at + 1000));
}

TEST(StepProfileTest, TimesAddUpToTheStep) {
  StepRecord record;
  addStep(record, 5000);
  addStep(record, 6500);
  StepProfile profile = profileOf({record});
  EXPECT_EQ(profile.recordedSteps, 2);
  EXPECT_EQ(profile.steps, 1);
  EXPECT_EQ(profile.workers, 2);
  EXPECT_DOUBLE_EQ(profile.step, 1.0);
  ASSERT_EQ(profile.launches.size(), 2u);
  EXPECT_EQ(profile.launches[0].launch, 3);
  EXPECT_DOUBLE_EQ(profile.launches[0].times, 2);
  EXPECT_DOUBLE_EQ(profile.launches[0].working, 0.45);
  EXPECT_DOUBLE_EQ(profile.launches[0].waiting, 0.10);
  EXPECT_DOUBLE_EQ(profile.launches[1].times, 1);
  EXPECT_DOUBLE_EQ(profile.launches[1].elapsed(), 0.40);
  EXPECT_NEAR(profile.outside, 0.05, 1e-12);
  EXPECT_DOUBLE_EQ(profile.waiting, 0.15);
}

TEST(StepProfileTest, OnlyTheFasterHalfOfTheLargestStepsCounts) {
  StepRecord record;
  addStep(record, 0);
  addStep(record, 2000);
  addStep(record, 4000);
  record.steps[1].end += 700;                 // disturbed
  record.steps.push_back({0, 0, 9000, 9001}); // a tail of fewer rows
  StepProfile profile = profileOf({record});
  EXPECT_EQ(profile.recordedSteps, 4);
  EXPECT_EQ(profile.steps, 2);
  EXPECT_DOUBLE_EQ(profile.step, 1.0);
  // The disturbed step ended at 3700, the third began at 4000.
  EXPECT_NEAR(profile.between, 0.3, 1e-12);
}

TEST(StepProfileTest, ALateSampleEndsWithItsStep) {
  StepRecord record;
  addStep(record, 0);
  record.workers[1].back().end = 99999;
  record.workers[1].push_back(work(3, 0, 100000, 100001));
  EXPECT_DOUBLE_EQ(profileOf({record}).launches[1].elapsed(), 0.40);
}

TEST(StepProfileTest, NothingRecorded) {
  EXPECT_EQ(profileOf({}).steps, 0);
  EXPECT_EQ(profileOf({StepRecord{}}).steps, 0);
}

} // namespace
} // namespace quire::cli
