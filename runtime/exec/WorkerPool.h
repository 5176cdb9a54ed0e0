// The workers that run step functions: threads that walk the same sequence of
// launches, take their own tiles first and then tiles of others, and wait at
// barriers for finished tiles, not for arrived workers (QuireWorkerApi in
// StepAbi.h). A worker that lost its core delays nobody beyond the one tile it
// holds; when it comes back it finds its launches over and catches up.
//
// The thread that calls run() is worker 0; one thread at a time may call it.
// A late worker may still be inside an earlier step's function when run()
// returns (it reads nothing of that step's data): unload code only after
// quiesce().

#ifndef QUIRE_RUNTIME_EXEC_WORKERPOOL_H
#define QUIRE_RUNTIME_EXEC_WORKERPOOL_H

#include "absl/status/statusor.h"
#include "runtime/engine/Ledger.h"
#include "runtime/engine/Memory.h"
#include "runtime/engine/StepAbi.h"
#include "runtime/exec/LaunchRing.h"
#include "runtime/exec/StepRecord.h"
#include "runtime/exec/Waiting.h"

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace quire {

/// Told of a launch when all its tiles have finished; may read and change what
/// they wrote. `layer` is the one that the launch ran for.
using LaunchWatch = std::function<void(int32_t launch, const QuireStep &step,
                                       const QuireLayer *layer)>;

struct WorkerPoolOptions {
  int workers = 0; // 0: one per physical core this process may use
  bool pin = false;
  int64_t scratchBytes = 0; // per worker
  int64_t spinMicroseconds = 30;
};

class WorkerPool {
public:
  static absl::StatusOr<std::unique_ptr<WorkerPool>>
  create(const WorkerPoolOptions &options);
  ~WorkerPool();
  WorkerPool(const WorkerPool &) = delete;

  int workers() const { return static_cast<int>(team.size()); }

  /// Runs one step; returns when all its tiles have finished.
  void run(QuireStepFn function, const QuireStep *step);

  /// Waits until no worker is inside a step function.
  void quiesce();

  /// Starts to record what the workers do (StepRecord.h). Off, it costs
  /// nothing: steps then run through other entry points.
  void startRecording();
  /// Ends it; what was recorded.
  StepRecord stopRecording();

  /// Stops behind every launch of the coming steps for `watch`; an empty one
  /// ends that. FailedPrecondition where other workers would run ahead.
  absl::Status watch(LaunchWatch watch);

  void addTo(Ledger &ledger) const;

private:
  friend struct ::QuireWorker;
  struct Descriptor { // guarded by its version: odd while it is written
    std::atomic<uint64_t> version{0};
    std::atomic<QuireStepFn> function{nullptr};
    std::atomic<const QuireStep *> step{nullptr};
    std::atomic<uint64_t> firstLaunch{0};
  };

  explicit WorkerPool(const WorkerPoolOptions &options) : options(options) {}
  void loop(QuireWorker &worker);
  uint64_t publish(QuireStepFn function, const QuireStep *step,
                   uint64_t firstLaunch);
  // What step functions call, with and without recording.
  template <typename Recorder> static const QuireWorkerApi &together();
  template <typename Recorder> static const QuireWorkerApi &alone();
  template <typename Recorder>
  static void launch(QuireWorker *worker, int32_t launch,
                     QuireTileCountFn count, QuireTileFn tile,
                     const QuireStep *step, const QuireLayer *layer);
  template <typename Recorder>
  static void launchAlone(QuireWorker *worker, int32_t launch,
                          QuireTileCountFn count, QuireTileFn tile,
                          const QuireStep *step, const QuireLayer *layer);
  static void launchWatched(QuireWorker *worker, int32_t launch,
                            QuireTileCountFn count, QuireTileFn tile,
                            const QuireStep *step, const QuireLayer *layer);
  template <typename Recorder> static void barrier(QuireWorker *worker);
  static void barrierAlone(QuireWorker *worker);

  WorkerPoolOptions options;
  int64_t scratchStride = 0;
  AnonymousMemory scratch;
  std::unique_ptr<LaunchRing> ring;
  std::vector<std::unique_ptr<QuireWorker>> team;
  std::vector<std::thread> threads;
  Descriptor descriptor;
  WakeEvent stepPublished;
  WakeEvent launchOver;
  WakeEvent workerIdle;
  std::atomic<bool> stopping{false};
  std::atomic<bool> recording{false};
  std::vector<StepSample> steps;
  LaunchWatch watcher;
};

} // namespace quire

/// One worker's private state. Cache-line aligned: workers write their own.
struct alignas(64) QuireWorker {
  quire::WorkerPool *pool = nullptr;
  int index = 0;
  std::byte *scratch = nullptr;
  uint64_t nextLaunch = 0;  // the number of the next launch it meets
  uint64_t firstUnseen = 0; // first launch not known to be over
  std::atomic<uint64_t> finishedVersion{0}; // of the descriptor
  quire::WorkerTrack track;
};

#endif
