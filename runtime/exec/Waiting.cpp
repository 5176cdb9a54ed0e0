#include "runtime/exec/Waiting.h"

#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace quire {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t),
              "the kernel looks at the atomic as a plain word");

void WakeEvent::sleepUnlessChanged(uint32_t seen) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&epoch), FUTEX_WAIT_PRIVATE,
          seen, nullptr, nullptr, 0);
}

void WakeEvent::wakeSleepers() {
  epoch.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&epoch), FUTEX_WAKE_PRIVATE,
          INT_MAX, nullptr, nullptr, 0);
}

} // namespace quire
