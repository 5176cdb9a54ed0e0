#include "tools/machine/MachineRoof.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace quire {

namespace {

using Clock = std::chrono::steady_clock;

/// Runs `work(thread)` on all threads at once; the seconds that took.
double timeTogether(int threads, const std::function<void(int)> &work) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> team;
  for (int i = 1; i < threads; ++i) {
    team.emplace_back([&, i] {
      ++ready;
      while (!go.load(std::memory_order_acquire)) {
        std::this_thread::yield();
      }
      work(i);
    });
  }
  while (ready.load() < threads - 1) {
    std::this_thread::yield();
  }
  Clock::time_point start = Clock::now();
  go.store(true, std::memory_order_release);
  work(0);
  for (std::thread &thread : team) {
    thread.join();
  }
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::atomic<uint64_t> sink; // keeps results alive; never read

uint64_t sumOf(const uint64_t *data, int64_t count) {
  uint64_t sums[16] = {};
  for (int64_t i = 0; i + 16 <= count; i += 16) {
    for (int64_t j = 0; j < 16; ++j) {
      sums[j] += data[i + j];
    }
  }
  uint64_t total = 0;
  for (uint64_t sum : sums) {
    total += sum;
  }
  return total;
}

/// Bytes per second; the best of several passes.
double measureRead(int threads, const RoofEffort &effort) {
  int64_t words = effort.readBytes / int64_t{sizeof(uint64_t)};
  int64_t share = words / threads;
  std::unique_ptr<uint64_t[]> data(new (std::nothrow) uint64_t[words]);
  if (!data) {
    return 0; // no memory to read, no rate
  }
  auto part = [&](int thread) { return data.get() + thread * share; };
  timeTogether(threads, [&](int thread) {
    std::fill_n(part(thread), share, uint64_t(thread + 1));
  });
  double best = 0;
  for (int pass = 0; pass < effort.readPasses; ++pass) {
    double seconds = timeTogether(
        threads, [&](int thread) { sink += sumOf(part(thread), share); });
    best = std::max(best, static_cast<double>(share * threads) *
                              sizeof(uint64_t) / seconds);
  }
  return best;
}

/// Operations per second of all threads, the best of several goes.
double measureOps(int threads, const RoofKernel &kernel, double goSeconds) {
  constexpr int kGoes = 3;
  int64_t rounds = 1 << 16;
  double seconds = 0;
  // Long enough to be timed and to leave the frequency ramp behind.
  while ((seconds = timeTogether(1, [&](int) { sink += kernel.run(rounds); })) <
         goSeconds) {
    rounds *= 2;
  }
  double best = 0;
  for (int go = 0; go < kGoes; ++go) {
    seconds = timeTogether(threads, [&](int) { sink += kernel.run(rounds); });
    best = std::max(best, static_cast<double>(rounds * kernel.opsPerRound) *
                              threads / seconds);
  }
  return best;
}

} // namespace

MachineRoof measureRoof(int threads, const RoofEffort &effort) {
  RoofKernel int8 = int8RoofKernel();
  RoofKernel f32 = f32RoofKernel();
  return {.threads = threads,
          .readBytesPerSecond = measureRead(threads, effort),
          .int8OpsPerSecond = measureOps(threads, int8, effort.goSeconds),
          .f32OpsPerSecond = measureOps(threads, f32, effort.goSeconds),
          .int8Kernel = int8.name,
          .f32Kernel = f32.name};
}

} // namespace quire
