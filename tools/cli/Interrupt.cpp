#include "tools/cli/Interrupt.h"

#include <csignal>
#include <unistd.h>

namespace quire::cli {

// A signal handler can reach nothing but static storage.
static volatile std::sig_atomic_t signalCount = 0;

static void countSignal(int) {
  // Whoever presses three times does not want to wait for the current step.
  signalCount = signalCount + 1;
  if (signalCount >= 3) {
    _exit(130);
  }
}

void catchSignals() {
  struct sigaction action = {};
  action.sa_handler = countSignal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

bool interrupted() { return signalCount != 0; }

void forgetInterrupts() { signalCount = 0; }

} // namespace quire::cli
