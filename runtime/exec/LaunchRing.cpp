#include "runtime/exec/LaunchRing.h"

#include <algorithm>

namespace quire {

namespace {
constexpr uint64_t kRefreshInterval = 1 << 16;
} // namespace

LaunchRing::LaunchRing(int workers)
    : workers(workers), slots(new Slot[kSlots]),
      shares(new Share[kSlots * workers]) {
  // Launch numbers start at kSlots: the ring begins with "all over".
  for (uint64_t i = 0; i < kSlots; ++i) {
    slots[i].remaining = Stamped::pack(i, 0);
    slots[i].total = Stamped::pack(i, 0);
    for (int w = 0; w < workers; ++w) {
      shareOf(i, w).taken = Stamped::pack(i, 0);
    }
  }
}

LaunchRing::State LaunchRing::state(uint64_t launch) const {
  uint64_t word = slot(launch).remaining.load(std::memory_order_seq_cst);
  int64_t age = Stamped::age(word, launch);
  if (age > 0) {
    return State::Over;
  }
  if (age < 0) {
    return State::NotOpen;
  }
  if (Stamped::value(word) == kOpening) {
    return State::Opening;
  }
  return Stamped::value(word) == 0 ? State::Over : State::Running;
}

bool LaunchRing::tryOpen(uint64_t launch) {
  uint64_t before = Stamped::pack(launch - kSlots, 0);
  return slot(launch).remaining.compare_exchange_strong(
      before, Stamped::pack(launch, kOpening), std::memory_order_acq_rel,
      std::memory_order_relaxed);
}

void LaunchRing::open(uint64_t launch, int64_t tiles) {
  Slot &mine = slot(launch);
  tiles = std::max<int64_t>(0, tiles);
  int64_t perUnit = 1 + tiles / static_cast<int64_t>(kMaxUnits);
  uint64_t units = (tiles + perUnit - 1) / perUnit;
  mine.tiles.store(tiles, std::memory_order_relaxed);
  mine.tilesPerUnit.store(perUnit, std::memory_order_relaxed);
  if (launch / kSlots % kRefreshInterval == 0) {
    // A share that small launches never touch must not grow so old that its
    // number seems new again.
    for (int w = 0; w < workers; ++w) {
      shareOf(launch, w).taken.store(Stamped::pack(launch, 0),
                                     std::memory_order_relaxed);
    }
  }
  mine.total.store(Stamped::pack(launch, units), std::memory_order_release);
  mine.remaining.store(Stamped::pack(launch, units), std::memory_order_release);
}

bool LaunchRing::units(uint64_t launch, uint64_t &count) const {
  uint64_t word = slot(launch).total.load(std::memory_order_acquire);
  count = Stamped::value(word);
  return Stamped::age(word, launch) == 0;
}

void LaunchRing::tilesOf(uint64_t launch, int64_t unit, int64_t &begin,
                         int64_t &end) const {
  const Slot &mine = slot(launch);
  int64_t perUnit = mine.tilesPerUnit.load(std::memory_order_relaxed);
  begin = unit * perUnit;
  end = std::min(begin + perUnit, mine.tiles.load(std::memory_order_relaxed));
}

int64_t LaunchRing::take(uint64_t launch, int share, uint64_t units) {
  uint64_t begin = units * share / workers;
  uint64_t size = units * (share + 1) / workers - begin;
  std::atomic<uint64_t> &counter = shareOf(launch, share).taken;
  uint64_t word = counter.load(std::memory_order_relaxed);
  while (true) {
    int64_t age = Stamped::age(word, launch);
    // An older number: nobody took anything of this share yet.
    uint64_t taken = age == 0 ? Stamped::value(word) : 0;
    if (age > 0 || taken >= size) {
      return -1;
    }
    if (counter.compare_exchange_weak(word, Stamped::pack(launch, taken + 1),
                                      std::memory_order_acq_rel,
                                      std::memory_order_relaxed)) {
      return static_cast<int64_t>(begin + taken);
    }
  }
}

bool LaunchRing::finish(uint64_t launch) {
  // The word cannot be another launch's: a unit of this one is unfinished.
  uint64_t before =
      slot(launch).remaining.fetch_sub(1, std::memory_order_seq_cst);
  return Stamped::value(before) == 1;
}

} // namespace quire
