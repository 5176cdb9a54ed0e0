// Worker pool: every tile runs once, barriers order what must be ordered, and
// a worker that comes late reads nothing of a step that is over. Also built
// under ThreadSanitizer.

#include "runtime/exec/WorkerPool.h"
#include "runtime/exec/CpuTopology.h"

#include "gtest/gtest.h"

#include <chrono>
#include <numeric>
#include <set>
#include <thread>

namespace quire {
namespace {

// A chain of launches over `rows` cells: launch k sets cell[k][i] from two
// cells of launch k - 1, so that a missing barrier or tile shows at the end.
constexpr int kLaunches = 40;
constexpr int kMaxRows = 64;

struct Cells {
  uint64_t value[kLaunches + 1][kMaxRows];
};

Cells &cellsOf(const QuireStep *step) {
  return *reinterpret_cast<Cells *>(step->arena);
}

int64_t countRows(const QuireStep *step, const QuireLayer *) {
  return step->batch->rows;
}

uint64_t mix(uint64_t a, uint64_t b) {
  return (a * 0x9E3779B97F4A7C15ull) ^ (b + 0x7F4A7C15ull + (a >> 7));
}

void runTile(const QuireStep *step, const QuireLayer *layer, int64_t tile,
             std::byte *scratch) {
  int64_t rows = step->batch->rows;
  const uint64_t *from = cellsOf(step).value[layer->index];
  *reinterpret_cast<uint64_t *>(scratch) = from[(tile + 1) % rows];
  cellsOf(step).value[layer->index + 1][tile] =
      mix(from[tile], *reinterpret_cast<uint64_t *>(scratch));
}

void chainStep(const QuireStep *step, const QuireWorkerApi *api,
               QuireWorker *worker) {
  for (int64_t k = 0; k < kLaunches; ++k) {
    QuireLayer layer{nullptr, k, k};
    api->launch(worker, static_cast<int32_t>(k), countRows, runTile, step,
                &layer);
    api->barrier(worker);
  }
}

uint64_t expectedSum(uint64_t seed, int rows) {
  std::vector<uint64_t> now(rows);
  std::iota(now.begin(), now.end(), seed);
  for (int k = 0; k < kLaunches; ++k) {
    std::vector<uint64_t> next(rows);
    for (int i = 0; i < rows; ++i) {
      next[i] = mix(now[i], now[(i + 1) % rows]);
    }
    now = next;
  }
  return std::accumulate(now.begin(), now.end(), uint64_t{0});
}

std::unique_ptr<WorkerPool> makePool(int workers) {
  auto pool = WorkerPool::create({.workers = workers, .scratchBytes = 64});
  EXPECT_TRUE(pool.ok()) << pool.status();
  return *std::move(pool);
}

class WorkerPoolTest : public testing::TestWithParam<int> {};

TEST_P(WorkerPoolTest, EveryStepComputesTheSame) {
  auto pool = makePool(GetParam());
  auto cells = std::make_unique<Cells>();
  // The batch is overwritten as soon as run() returns, as the engine does.
  QuireBatch batch{};
  QuireStep step{};
  step.batch = &batch;
  step.arena = reinterpret_cast<std::byte *>(cells.get());
  for (uint64_t n = 0; n < 300; ++n) {
    int rows = 1 + static_cast<int>(n * 7 % kMaxRows);
    batch.rows = rows;
    std::iota(cells->value[0], cells->value[0] + rows, n);
    pool->run(chainStep, &step);
    batch.rows = -1;
    uint64_t sum = std::accumulate(cells->value[kLaunches],
                                   cells->value[kLaunches] + rows, uint64_t{0});
    ASSERT_EQ(sum, expectedSum(n, rows)) << "step " << n;
    std::fill_n(&cells->value[0][0], sizeof(Cells) / 8, ~uint64_t{0});
  }
}

TEST_P(WorkerPoolTest, SleepersAreWoken) {
  auto pool = makePool(GetParam());
  auto cells = std::make_unique<Cells>();
  QuireBatch batch{};
  QuireStep step{};
  step.batch = &batch;
  step.arena = reinterpret_cast<std::byte *>(cells.get());
  for (uint64_t n = 0; n < 20; ++n) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    batch.rows = 8;
    std::iota(cells->value[0], cells->value[0] + 8, n);
    pool->run(chainStep, &step);
    ASSERT_EQ(std::accumulate(cells->value[kLaunches],
                              cells->value[kLaunches] + 8, uint64_t{0}),
              expectedSum(n, 8));
    if (n % 5 == 0) {
      pool->quiesce();
    }
  }
}

// Launches without barriers between them run ahead of each other further than
// the ring is long; every tile still runs once.
std::atomic<int64_t> tilesRun;
void countTile(const QuireStep *, const QuireLayer *, int64_t, std::byte *) {
  tilesRun.fetch_add(1, std::memory_order_relaxed);
}
void freeStep(const QuireStep *step, const QuireWorkerApi *api,
              QuireWorker *worker) {
  for (int i = 0; i < 100; ++i) {
    api->launch(worker, i, countRows, countTile, step, nullptr);
  }
}

TEST_P(WorkerPoolTest, LaunchesWithoutBarriers) {
  auto pool = makePool(GetParam());
  QuireBatch batch{};
  QuireStep step{};
  step.batch = &batch;
  for (int rows : {0, 1, 5}) {
    tilesRun = 0;
    batch.rows = rows;
    pool->run(freeStep, &step);
    EXPECT_EQ(tilesRun.load(), 100 * rows);
  }
}

TEST_P(WorkerPoolTest, TheRecordHasAllTilesAndNoOverlaps) {
  auto pool = makePool(GetParam());
  QuireBatch batch{};
  batch.rows = 9;
  QuireStep step{};
  step.batch = &batch;
  pool->run(freeStep, &step); // not recorded
  pool->startRecording();
  pool->run(freeStep, &step);
  batch.rows = 2;
  pool->run(freeStep, &step);
  StepRecord record = pool->stopRecording();
  pool->run(freeStep, &step); // nor is this

  ASSERT_EQ(record.steps.size(), 2u);
  EXPECT_EQ(record.steps[0].rows, 9);
  EXPECT_EQ(record.steps[1].rows, 2);
  EXPECT_LE(record.steps[0].end, record.steps[1].begin);
  int64_t tiles = 0;
  std::set<int32_t> launches;
  EXPECT_EQ(int(record.workers.size()), pool->workers());
  for (const std::vector<WorkerSample> &track : record.workers) {
    int64_t last = 0;
    for (const WorkerSample &sample : track) {
      EXPECT_GE(sample.begin, last);
      EXPECT_GE(sample.end, sample.begin);
      last = sample.end;
      EXPECT_TRUE(!sample.waiting || sample.tiles == 0);
      tiles += sample.tiles;
      launches.insert(sample.launch);
    }
  }
  EXPECT_EQ(tiles, 100 * (9 + 2));
  EXPECT_EQ(launches.size(), 100u);
  EXPECT_TRUE(pool->stopRecording().steps.empty());
}

TEST(WatchedWorkerPoolTest, StopsBehindEachLaunch) {
  auto pool = makePool(1);
  QuireBatch batch{};
  batch.rows = 3;
  QuireStep step{};
  step.batch = &batch;
  tilesRun = 0;
  int launches = 0;
  auto watch = [&](int32_t launch, const QuireStep &seen, const QuireLayer *) {
    EXPECT_EQ(launch, launches++);
    EXPECT_EQ(&seen, &step);
    EXPECT_EQ(tilesRun.load(), 3 * launches);
  };
  ASSERT_TRUE(pool->watch(watch).ok());
  pool->run(freeStep, &step);
  EXPECT_EQ(launches, 100);
  ASSERT_TRUE(pool->watch(nullptr).ok());
  pool->run(freeStep, &step);
  EXPECT_EQ(launches, 100);
  EXPECT_FALSE(makePool(2)->watch(watch).ok());
}

INSTANTIATE_TEST_SUITE_P(Workers, WorkerPoolTest, testing::Values(1, 2, 3, 7));

// One worker blocks inside its tile: the others do everything else, and only
// that one tile is waited for.
std::atomic<int> others;
int64_t countEight(const QuireStep *, const QuireLayer *) { return 8; }
void blockInTileZero(const QuireStep *, const QuireLayer *, int64_t tile,
                     std::byte *) {
  if (tile != 0) {
    others.fetch_add(1);
    return;
  }
  while (others.load() < 7) {
    std::this_thread::yield();
  }
}
void blockStep(const QuireStep *step, const QuireWorkerApi *api,
               QuireWorker *worker) {
  api->launch(worker, 0, countEight, blockInTileZero, step, nullptr);
  api->barrier(worker);
}

TEST(WorkerPoolStealingTest, OthersTakeTheTilesOfABlockedWorker) {
  auto pool = makePool(2);
  QuireStep step{};
  others = 0;
  pool->run(blockStep, &step);
  EXPECT_EQ(others.load(), 7);
}

TEST(LaunchRingTest, MillionsOfTilesAreTakenInRuns) {
  LaunchRing ring(1);
  uint64_t launch = LaunchRing::kSlots;
  int64_t tiles = int64_t{5} << 30;
  ASSERT_TRUE(ring.tryOpen(launch));
  ring.open(launch, tiles);
  uint64_t units = 0;
  ASSERT_TRUE(ring.units(launch, units));
  EXPECT_LE(units, LaunchRing::kMaxUnits);
  int64_t begin = 0;
  int64_t end = 0;
  ring.tilesOf(launch, static_cast<int64_t>(units) - 1, begin, end);
  EXPECT_EQ(end, tiles);
  EXPECT_LT(begin, end);
}

TEST(WorkerPoolOptionsTest, RefusesAbsurdCounts) {
  EXPECT_FALSE(WorkerPool::create({.workers = -1}).ok());
  EXPECT_FALSE(WorkerPool::create({.workers = 100000}).ok());
}

TEST(CpuTopologyTest, QuotaText) {
  EXPECT_FALSE(parseCpuMax("max 100000").has_value());
  EXPECT_FALSE(parseCpuMax("").has_value());
  EXPECT_DOUBLE_EQ(parseCpuMax("150000 100000").value(), 1.5);
  EXPECT_GE(defaultWorkers(usableCores()), 1);
}

} // namespace
} // namespace quire
