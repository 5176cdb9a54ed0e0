// What the tile barrier costs, and what is left of the speed when another
// process takes a core. A program to run by hand, not a test:
//   worker_pool_bench [workers]
// Beside the pool runs the usual alternative in the same process: each worker
// has a fixed share, and a barrier waits for arrived workers by spinning.

#include "runtime/exec/WorkerPool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace quire;
using Clock = std::chrono::steady_clock;

constexpr int64_t kTileBytes = 64 << 10;
constexpr int64_t kLaunchTiles = 64; // 4 MiB a launch
constexpr int64_t kLaunches = 64;    // 256 MiB a step: far beyond any cache
constexpr int64_t kBarriers = 200;
constexpr double kTileSeconds = 1e-6; // of a barrier measurement

double seconds(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

void streamTile(const QuireStep *step, const QuireLayer *layer, int64_t tile,
                std::byte *scratch) {
  const auto *data = reinterpret_cast<const uint64_t *>(
      step->weights + (layer->index * kLaunchTiles + tile) * kTileBytes);
  uint64_t lanes[8] = {};
  for (int64_t i = 0; i < kTileBytes / 8; i += 8) {
    for (int j = 0; j < 8; ++j) {
      lanes[j] += data[i + j];
    }
  }
  for (int j = 0; j < 8; ++j) {
    reinterpret_cast<uint64_t *>(scratch)[j] = lanes[j];
  }
  asm volatile("" ::"r"(scratch) : "memory"); // the sums are wanted
}
int64_t countStream(const QuireStep *, const QuireLayer *) {
  return kLaunchTiles;
}
void streamStep(const QuireStep *step, const QuireWorkerApi *api,
                QuireWorker *worker) {
  for (int64_t k = 0; k < kLaunches; ++k) {
    QuireLayer layer{nullptr, k, k};
    api->launch(worker, 0, countStream, streamTile, step, &layer);
    api->barrier(worker);
  }
}

/// Long enough that each worker finds its own tile untaken.
void shortTile(const QuireStep *, const QuireLayer *, int64_t, std::byte *) {
  auto start = Clock::now();
  while (seconds(start) < kTileSeconds) {
  }
}
int64_t countWorkers(const QuireStep *step, const QuireLayer *) {
  return step->batch->rows;
}
void barrierStep(const QuireStep *step, const QuireWorkerApi *api,
                 QuireWorker *worker) {
  for (int64_t k = 0; k < kBarriers; ++k) {
    api->launch(worker, 0, countWorkers, shortTile, step, nullptr);
    api->barrier(worker);
  }
}

/// The alternative: fixed shares, and a spinning barrier of arrivals.
class FixedTeam {
public:
  explicit FixedTeam(int workers) : workers(workers) {}
  double streamSeconds(const QuireStep *step) {
    auto start = Clock::now();
    std::vector<std::thread> threads;
    for (int w = 1; w < workers; ++w) {
      threads.emplace_back([=, this] { walk(step, w); });
    }
    walk(step, 0);
    for (std::thread &thread : threads) {
      thread.join();
    }
    return seconds(start);
  }

private:
  void walk(const QuireStep *step, int w) {
    alignas(64) std::byte scratch[64];
    for (int64_t k = 0; k < kLaunches; ++k) {
      QuireLayer layer{nullptr, k, k};
      for (int64_t tile = kLaunchTiles * w / workers;
           tile < kLaunchTiles * (w + 1) / workers; ++tile) {
        streamTile(step, &layer, tile, scratch);
      }
      int64_t generation = passed.load();
      if (arrived.fetch_add(1) + 1 == workers) {
        arrived = 0;
        passed.fetch_add(1);
      } else {
        while (passed.load() == generation) {
          spinPause();
        }
      }
    }
  }
  int workers;
  std::atomic<int> arrived{0};
  std::atomic<int64_t> passed{0};
};

/// A process that burns the last core until destroyed.
class BusyNeighbour {
public:
  BusyNeighbour() {
    child = fork();
    if (child == 0) {
      cpu_set_t mask;
      CPU_ZERO(&mask);
      CPU_SET(std::thread::hardware_concurrency() - 1, &mask);
      sched_setaffinity(0, sizeof(mask), &mask);
      for (volatile uint64_t i = 0;; i = i + 1) {
      }
    }
    usleep(50000);
  }
  ~BusyNeighbour() {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }

private:
  pid_t child;
};

struct Rates {
  std::vector<double> pool, fixed; // GB/s
};

Rates streamRates(WorkerPool &pool, const QuireStep &step, int repeats) {
  Rates rates;
  double gigabytes = kLaunches * kLaunchTiles * kTileBytes / 1e9;
  for (int i = 0; i < repeats; ++i) { // interleaved: both see the same noise
    auto start = Clock::now();
    pool.run(streamStep, &step);
    rates.pool.push_back(gigabytes / seconds(start));
    FixedTeam team(pool.workers());
    rates.fixed.push_back(gigabytes / team.streamSeconds(&step));
  }
  std::sort(rates.pool.begin(), rates.pool.end());
  std::sort(rates.fixed.begin(), rates.fixed.end());
  return rates;
}

void print(const char *what, const std::vector<double> &sorted) {
  std::printf("%-34s median %6.2f  min %6.2f  max %6.2f GB/s\n", what,
              sorted[sorted.size() / 2], sorted.front(), sorted.back());
}

void measureBarrier(WorkerPool &pool) {
  QuireBatch batch{};
  batch.rows = pool.workers();
  QuireStep step{};
  step.batch = &batch;
  std::vector<double> costs;
  for (int i = 0; i < 2000; ++i) {
    auto start = Clock::now();
    pool.run(barrierStep, &step);
    costs.push_back((seconds(start) / kBarriers - kTileSeconds) * 1e9);
  }
  std::sort(costs.begin(), costs.end());
  std::printf("%d worker(s): launch + barrier  min %.0f  p10 %.0f  median %.0f "
              "ns\n",
              pool.workers(), costs[0], costs[200], costs[1000]);
}

} // namespace

int main(int argc, char **argv) {
  int workers = argc > 1 ? std::atoi(argv[1]) : 0;
  auto alone = WorkerPool::create({.workers = 1, .scratchBytes = 64});
  auto pool = WorkerPool::create({.workers = workers, .scratchBytes = 64});
  if (!alone.ok() || !pool.ok()) {
    std::fprintf(stderr, "cannot start the workers\n");
    return 1;
  }
  measureBarrier(**alone);
  measureBarrier(**pool);
  std::vector<std::byte> weights(kLaunches * kLaunchTiles * kTileBytes,
                                 std::byte{1});
  QuireStep step{};
  step.weights = weights.data();
  Rates one = streamRates(**alone, step, 20);
  print("one worker", one.pool);
  Rates quiet = streamRates(**pool, step, 20);
  print("tile barrier, quiet", quiet.pool);
  print("arrival barrier, quiet", quiet.fixed);
  BusyNeighbour neighbour;
  Rates busy = streamRates(**pool, step, 20);
  print("tile barrier, one core taken", busy.pool);
  print("arrival barrier, one core taken", busy.fixed);
  return 0;
}
