// What the workers did, step by step: the raw material of profiles and traces.
// Each worker writes a track of its own; one clock reading ends a sample and
// begins the next, so that recording costs one reading per launch and one per
// barrier.

#ifndef QUIRE_RUNTIME_EXEC_STEPRECORD_H
#define QUIRE_RUNTIME_EXEC_STEPRECORD_H

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace quire {

/// A piece of one worker's time inside a step, in nanoseconds of the steady
/// clock.
struct WorkerSample {
  int32_t launch; // its number in the manifest; of a wait, the last before
  bool waiting;   // at a barrier
  int64_t layer;  // -1: outside the layers
  int64_t tiles;  // that this worker ran
  int64_t begin;
  int64_t end;
};

/// One step on the thread that asked for it.
struct StepSample {
  int64_t rows;
  int64_t logitRows;
  int64_t begin;
  int64_t end;
};

struct StepRecord {
  std::vector<StepSample> steps;
  std::vector<std::vector<WorkerSample>> workers;
};

inline int64_t steadyNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// One worker's samples, written by that worker alone.
class WorkerTrack {
public:
  /// Time from here on belongs to the next sample.
  void mark() { last = steadyNanoseconds(); }
  void addLaunch(int32_t launch, int64_t layer, int64_t tiles) {
    lastLaunch = launch;
    lastLayer = layer;
    add(false, tiles);
  }
  void addWait() { add(true, 0); }

  void reserve(size_t count) { samples.reserve(count); }
  std::vector<WorkerSample> take() { return std::exchange(samples, {}); }

private:
  void add(bool waiting, int64_t tiles) {
    int64_t now = steadyNanoseconds();
    samples.push_back({lastLaunch, waiting, lastLayer, tiles, last, now});
    last = now;
  }

  std::vector<WorkerSample> samples;
  int64_t last = 0;
  int32_t lastLaunch = 0;
  int64_t lastLayer = -1;
};

} // namespace quire

#endif
