#include "tools/compile/Interrupt.h"

#include <csignal>
#include <initializer_list>
#include <unistd.h>

namespace quire {

// A signal handler can reach nothing but static storage.
static volatile std::sig_atomic_t signalCount = 0;

static void countSignal(int) {
  // One Ctrl-C can come twice, from the terminal and from the process that
  // waits for this one; the third says that somebody is in a hurry.
  signalCount = signalCount + 1;
  if (signalCount >= 3) {
    _exit(130);
  }
}

void catchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = countSignal;
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    sigaction(number, &action, nullptr);
  }
  // Too large a file is an error of write, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
}

bool interrupted() { return signalCount != 0; }

} // namespace quire
