// The shared state of the launches in flight: which tiles are taken and which
// have finished. Lock-free; every worker calls every function.
//
// Launches are numbered in one sequence over all steps. Launch n uses slot
// n % kSlots; every word in a slot carries the number of the launch it speaks
// of, so that a worker that comes late sees at once that its launch is over.
//
// Why nobody reads a step that is over: a step ends when all its tiles have
// finished. A worker reads the step's arrays only (a) in a tile it claimed,
// which has not finished, or (b) while it is the one that opens a launch
// (counts its tiles), and a launch that is not open yet has not finished.
// Both are won by compare-and-swap on a word that carries the number.

#ifndef QUIRE_RUNTIME_EXEC_LAUNCHRING_H
#define QUIRE_RUNTIME_EXEC_LAUNCHRING_H

#include <atomic>
#include <cstdint>
#include <memory>

namespace quire {

/// {launch number: 40 bits, value: 24 bits}. At a hundred thousand launches a
/// second the number wraps after four months of one starving worker.
class Stamped {
public:
  static constexpr int kValueBits = 24;
  static constexpr uint64_t kValueMask = (uint64_t{1} << kValueBits) - 1;

  static constexpr uint64_t pack(uint64_t launch, uint64_t value) {
    return launch << kValueBits | value;
  }
  static constexpr uint64_t value(uint64_t word) { return word & kValueMask; }
  /// Below, at or above zero: the word speaks of an older launch, this one, a
  /// newer one.
  static constexpr int64_t age(uint64_t word, uint64_t launch) {
    uint64_t distance =
        (word >> kValueBits << kValueBits) - (launch << kValueBits);
    return static_cast<int64_t>(distance);
  }
};

class LaunchRing {
public:
  static constexpr uint64_t kSlots = 16;
  static constexpr uint64_t kMaxUnits = Stamped::kValueMask / 2;

  explicit LaunchRing(int workers);

  enum class State { NotOpen, Opening, Running, Over };
  /// What a worker sees of a launch.
  State state(uint64_t launch) const;

  /// Claims the right to open a launch (to count its tiles). The launch that
  /// used the slot before must be over.
  bool tryOpen(uint64_t launch);
  /// Publishes the number of tiles of a launch this worker opens. A unit of
  /// claiming is one tile, or a run of tiles where there are millions.
  void open(uint64_t launch, int64_t tiles);

  /// The number of units, if the launch is still running.
  bool units(uint64_t launch, uint64_t &count) const;
  /// The tiles [begin, end) of a unit this worker took.
  void tilesOf(uint64_t launch, int64_t unit, int64_t &begin,
               int64_t &end) const;
  /// Takes a unit of one worker's share; returns its number or -1.
  int64_t take(uint64_t launch, int share, uint64_t units);
  /// Fetches what a worker touches first in a launch to come, while it has
  /// tiles to run.
  void prefetch(uint64_t launch, int share) const {
    __builtin_prefetch(&slot(launch));
    __builtin_prefetch(&shareOf(launch, share), /*for writing*/ 1);
  }
  /// Reports a unit as finished; true when it was the launch's last.
  bool finish(uint64_t launch);

private:
  struct alignas(64) Slot {
    std::atomic<uint64_t> remaining; // unfinished units, or kOpening
    std::atomic<uint64_t> total;     // units
    std::atomic<int64_t> tiles;      // read only while a unit is held
    std::atomic<int64_t> tilesPerUnit;
  };
  struct alignas(64) Share {
    std::atomic<uint64_t> taken;
  };
  static constexpr uint64_t kOpening = Stamped::kValueMask;

  Slot &slot(uint64_t launch) const { return slots[launch % kSlots]; }
  Share &shareOf(uint64_t launch, int share) const {
    return shares[(launch % kSlots) * workers + share];
  }

  int workers;
  std::unique_ptr<Slot[]> slots;
  std::unique_ptr<Share[]> shares;
};

} // namespace quire

#endif
