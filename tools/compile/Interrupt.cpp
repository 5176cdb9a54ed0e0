#include "tools/compile/Interrupt.h"

#include <csignal>

namespace quire {

// A signal handler can reach nothing but static storage.
static volatile std::sig_atomic_t signalled = 0;

void catchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) { signalled = 1; };
  // A second Ctrl-C ends the process at once.
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return signalled != 0; }

} // namespace quire
