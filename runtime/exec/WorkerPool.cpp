#include "runtime/exec/WorkerPool.h"

#include "absl/strings/str_cat.h"
#include "frontends/formats/Counted.h"
#include "ir/rt/Layout.h"
#include "runtime/engine/StatusMacros.h"
#include "runtime/exec/CpuTopology.h"

#include <algorithm>
#include <chrono>
#include <system_error>

namespace quire {

namespace {

constexpr int kMaxWorkers = 1024;

// Room for some steps of a large model before a track must grow.
constexpr size_t kExpectedSamples = 1 << 16;

// How a step is watched: not at all, or on each worker's track. An object of
// these types spans one launch or barrier.
struct NotRecorded {
  explicit NotRecorded(QuireWorker &) {}
  void ran(int64_t) {}
  void launched(int32_t, const QuireLayer *) {}
  void missed() {}
  void waited() {}
};
class Recorded {
public:
  explicit Recorded(QuireWorker &worker) : track(worker.track) {}
  void ran(int64_t count) { tiles += count; }
  void launched(int32_t launch, const QuireLayer *layer) {
    track.addLaunch(launch, layer ? layer->index : -1, tiles);
  }
  /// The launch was over when this worker came by.
  void missed() { track.mark(); }
  void waited() { track.addWait(); }

private:
  WorkerTrack &track;
  int64_t tiles = 0;
};

} // namespace

absl::StatusOr<std::unique_ptr<WorkerPool>>
WorkerPool::create(const WorkerPoolOptions &options) {
  if (options.workers < 0 || options.workers > kMaxWorkers ||
      options.scratchBytes < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the number of threads must be between 0 (automatic) and ",
                     kMaxWorkers, ", got ", options.workers));
  }
  std::vector<int> cores = usableCores();
  int count = options.workers > 0 ? options.workers : defaultWorkers(cores);
  std::unique_ptr<WorkerPool> pool(new WorkerPool(options));
  pool->scratchStride = layout::alignUp(options.scratchBytes);
  QUIRE_ASSIGN_OR_RETURN(
      pool->scratch,
      AnonymousMemory::allocate(count * pool->scratchStride, "scratch"));
  pool->ring = std::make_unique<LaunchRing>(count);
  for (int i = 0; i < count; ++i) {
    auto worker = std::make_unique<QuireWorker>();
    worker->pool = pool.get();
    worker->index = i;
    worker->scratch = pool->scratch.data() + i * pool->scratchStride;
    worker->nextLaunch = LaunchRing::kSlots;
    pool->team.push_back(std::move(worker));
  }
  for (int i = 1; i < count; ++i) {
    QuireWorker &worker = *pool->team[i];
    try {
      pool->threads.emplace_back(
          [owner = pool.get(), &worker] { owner->loop(worker); });
    } catch (const std::system_error &error) {
      return absl::ResourceExhaustedError(
          absl::StrCat("cannot start worker thread ", i + 1, " of ", count,
                       " (", error.what(), "); ask for fewer threads"));
    }
    if (options.pin) {
      // Worker 0 is the caller's thread, which is not ours to pin; it is left
      // the first core.
      pinThread(pool->threads.back(), cores[i % cores.size()]);
    }
  }
  return pool;
}

WorkerPool::~WorkerPool() {
  stopping.store(true);
  publish(nullptr, nullptr, 0);
  for (std::thread &thread : threads) {
    thread.join();
  }
}

uint64_t WorkerPool::publish(QuireStepFn function, const QuireStep *step,
                             uint64_t firstLaunch) {
  // A seqlock without fences: a reader that sees a field of this step also
  // sees the odd version, because fields are stored with release.
  uint64_t version = descriptor.version.load(std::memory_order_relaxed);
  descriptor.version.store(version + 1, std::memory_order_relaxed);
  descriptor.function.store(function, std::memory_order_release);
  descriptor.step.store(step, std::memory_order_release);
  descriptor.firstLaunch.store(firstLaunch, std::memory_order_release);
  descriptor.version.exchange(version + 2, std::memory_order_seq_cst);
  stepPublished.wakeAll();
  return version + 2;
}

template <typename Recorder> const QuireWorkerApi &WorkerPool::together() {
  static constexpr QuireWorkerApi kApi = {launch<Recorder>, barrier<Recorder>};
  return kApi;
}

template <typename Recorder> const QuireWorkerApi &WorkerPool::alone() {
  static constexpr QuireWorkerApi kApi = {launchAlone<Recorder>, barrierAlone};
  return kApi;
}

void WorkerPool::run(QuireStepFn function, const QuireStep *step) {
  QuireWorker &self = *team[0];
  bool recorded = recording.load(std::memory_order_relaxed);
  int64_t begin = 0;
  if (recorded) {
    self.track.mark();
    begin = steadyNanoseconds();
  }
  if (watcher) {
    static constexpr QuireWorkerApi kWatched = {launchWatched, barrierAlone};
    function(step, &kWatched, &self);
  } else if (team.size() == 1) {
    function(step, recorded ? &alone<Recorded>() : &alone<NotRecorded>(),
             &self);
  } else {
    publish(function, step, self.nextLaunch);
    self.firstUnseen = self.nextLaunch;
    function(step, recorded ? &together<Recorded>() : &together<NotRecorded>(),
             &self);
    recorded ? barrier<Recorded>(&self) : barrier<NotRecorded>(&self);
  }
  if (recorded) {
    steps.push_back({step->batch->rows, step->batch->logitRows, begin,
                     steadyNanoseconds()});
  }
}

void WorkerPool::loop(QuireWorker &worker) {
  std::chrono::microseconds spin(options.spinMicroseconds);
  uint64_t seen = 0;
  while (true) {
    uint64_t version = 0;
    stepPublished.wait(spin, [&] {
      version = descriptor.version.load(std::memory_order_seq_cst);
      return version != seen && version % 2 == 0;
    });
    QuireStepFn function = descriptor.function.load(std::memory_order_acquire);
    const QuireStep *step = descriptor.step.load(std::memory_order_acquire);
    uint64_t first = descriptor.firstLaunch.load(std::memory_order_acquire);
    if (descriptor.version.load(std::memory_order_relaxed) != version) {
      continue; // a newer step came in between: take that one
    }
    seen = version;
    if (stopping.load(std::memory_order_acquire)) {
      return;
    }
    if (function) {
      worker.nextLaunch = worker.firstUnseen = first;
      bool recorded = recording.load(std::memory_order_relaxed);
      if (recorded) {
        worker.track.mark();
      }
      function(step,
               recorded ? &together<Recorded>() : &together<NotRecorded>(),
               &worker);
    }
    worker.finishedVersion.exchange(version, std::memory_order_seq_cst);
    workerIdle.wakeAll();
  }
}

void WorkerPool::quiesce() {
  // An empty step: a worker that has seen it is inside none.
  if (threads.empty()) {
    return;
  }
  uint64_t version = publish(nullptr, nullptr, 0);
  for (size_t i = 1; i < team.size(); ++i) {
    workerIdle.wait(std::chrono::microseconds(options.spinMicroseconds), [&] {
      return team[i]->finishedVersion.load(std::memory_order_seq_cst) ==
             version;
    });
  }
}

template <typename Recorder>
void WorkerPool::launchAlone(QuireWorker *worker, int32_t launch,
                             QuireTileCountFn count, QuireTileFn tile,
                             const QuireStep *step, const QuireLayer *layer) {
  Recorder recorder(*worker);
  int64_t tiles = count(step, layer);
  for (int64_t i = 0; i < tiles; ++i) {
    tile(step, layer, i, worker->scratch);
  }
  recorder.ran(tiles);
  recorder.launched(launch, layer);
}

void WorkerPool::launchWatched(QuireWorker *worker, int32_t launch,
                               QuireTileCountFn count, QuireTileFn tile,
                               const QuireStep *step, const QuireLayer *layer) {
  launchAlone<NotRecorded>(worker, launch, count, tile, step, layer);
  worker->pool->watcher(launch, *step, layer);
}

template <typename Recorder>
void WorkerPool::launch(QuireWorker *worker, int32_t launch,
                        QuireTileCountFn count, QuireTileFn tile,
                        const QuireStep *step, const QuireLayer *layer) {
  WorkerPool &pool = *worker->pool;
  LaunchRing &ring = *pool.ring;
  Recorder recorder(*worker);
  uint64_t number = worker->nextLaunch++;
  LaunchRing::State state = ring.state(number);
  if (state == LaunchRing::State::NotOpen) {
    uint64_t before = number - LaunchRing::kSlots;
    pool.launchOver.wait(
        std::chrono::microseconds(pool.options.spinMicroseconds),
        [&] { return ring.state(before) == LaunchRing::State::Over; });
    if (ring.tryOpen(number)) {
      ring.open(number, count(step, layer));
    }
  }
  for (int looks = 0;
       (state = ring.state(number)) == LaunchRing::State::Opening; ++looks) {
    spinPause();
    if (looks > 1000) {
      std::this_thread::yield(); // the opener lost its core
    }
  }
  uint64_t units = 0;
  if (state == LaunchRing::State::Over || !ring.units(number, units)) {
    recorder.missed();
    return;
  }
  ring.prefetch(number + 1, worker->index);
  int shares = pool.workers();
  for (int i = 0; i < shares; ++i) {
    int share = worker->index + i;
    share = share < shares ? share : share - shares;
    for (int64_t unit = ring.take(number, share, units); unit >= 0;
         unit = ring.take(number, share, units)) {
      int64_t begin = unit;
      int64_t end = unit + 1;
      if (units > LaunchRing::kMaxUnits / 2) {
        ring.tilesOf(number, unit, begin, end);
      }
      for (int64_t i = begin; i < end; ++i) {
        tile(step, layer, i, worker->scratch);
      }
      recorder.ran(end - begin);
      if (ring.finish(number)) {
        recorder.launched(launch, layer);
        pool.launchOver.wakeAll();
        return; // nothing is left to take either
      }
    }
  }
  recorder.launched(launch, layer);
}

template <typename Recorder> void WorkerPool::barrier(QuireWorker *worker) {
  WorkerPool &pool = *worker->pool;
  std::chrono::microseconds spin(pool.options.spinMicroseconds);
  for (; worker->firstUnseen != worker->nextLaunch; ++worker->firstUnseen) {
    uint64_t number = worker->firstUnseen;
    if (pool.ring->state(number) != LaunchRing::State::Over) {
      pool.launchOver.wait(spin, [&] {
        return pool.ring->state(number) == LaunchRing::State::Over;
      });
    }
  }
  Recorder(*worker).waited();
}

void WorkerPool::barrierAlone(QuireWorker *) {}

absl::Status WorkerPool::watch(LaunchWatch watch) {
  if (team.size() != 1) {
    return absl::FailedPreconditionError(absl::StrCat(
        "launches are watched with one worker, not ", team.size()));
  }
  watcher = std::move(watch);
  return absl::OkStatus();
}

void WorkerPool::startRecording() {
  quiesce();
  steps.clear();
  for (auto &worker : team) {
    worker->track.take();
    worker->track.reserve(kExpectedSamples);
  }
  recording = true;
}

StepRecord WorkerPool::stopRecording() {
  recording = false;
  // A late worker still writes its track.
  quiesce();
  StepRecord record{std::exchange(steps, {}), {}};
  for (auto &worker : team) {
    record.workers.push_back(worker->track.take());
  }
  return record;
}

void WorkerPool::addTo(Ledger &ledger) const {
  ledger.add({"executor", "scratch",
              absl::StrCat(counted(workers(), "worker"), " x ", scratchStride,
                           " bytes"),
              scratch.bytes()});
}

} // namespace quire
