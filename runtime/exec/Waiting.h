// Waiting for another worker: spin for some tens of microseconds, then sleep
// in the kernel. A sleeper gives its core away, so that a worker that lost
// its own can move there.

#ifndef QUIRE_RUNTIME_EXEC_WAITING_H
#define QUIRE_RUNTIME_EXEC_WAITING_H

#include <atomic>
#include <chrono>
#include <cstdint>

namespace quire {

inline void spinPause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Something that sleeping workers can be woken by. Wakers pay one load when
/// nobody sleeps.
class alignas(64) WakeEvent {
public:
  /// Returns when `done()` holds: spins for `spin`, then sleeps. Whoever makes
  /// `done` true calls wakeAll afterwards.
  template <typename Done> void wait(std::chrono::nanoseconds spin, Done done) {
    if (done()) {
      return;
    }
    constexpr int kPausesPerLook = 16;
    auto start = std::chrono::steady_clock::now();
    do {
      for (int i = 0; i < kPausesPerLook; ++i) {
        if (done()) {
          return;
        }
        spinPause();
      }
    } while (std::chrono::steady_clock::now() - start < spin);
    while (!done()) {
      sleepers.fetch_add(1, std::memory_order_seq_cst);
      uint32_t seen = epoch.load(std::memory_order_seq_cst);
      // Looked at again after announcing: either this sees the change, or
      // the waker sees the sleeper.
      if (!done()) {
        sleepUnlessChanged(seen);
      }
      sleepers.fetch_sub(1, std::memory_order_seq_cst);
    }
  }

  /// Call after a sequentially consistent read-modify-write that made some
  /// waiter's condition true.
  void wakeAll() {
    if (sleepers.load(std::memory_order_seq_cst) > 0) {
      wakeSleepers();
    }
  }

private:
  void sleepUnlessChanged(uint32_t seen);
  void wakeSleepers();

  std::atomic<uint32_t> epoch{0};
  std::atomic<uint32_t> sleepers{0};
};

} // namespace quire

#endif
