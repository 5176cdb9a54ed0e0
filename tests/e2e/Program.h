// Runs a program and reports how it ended: for tests of what users see. The
// program gets no standard input and must end within a time limit.

#ifndef QUIRE_TESTS_E2E_PROGRAM_H
#define QUIRE_TESTS_E2E_PROGRAM_H

#include <string>
#include <vector>

namespace quire::e2e {

struct Outcome {
  int status = -1; // as a shell has it: 128 + the number of a fatal signal
  std::string output;
  std::string errors;
  bool timedOut = false;
  int64_t peakBytes = 0; // resident
};

struct RunLimits {
  double seconds = 60;     // killed then
  double interruptAt = -1; // SIGINT after so many seconds
};

/// `arguments[0]` is the program's path.
Outcome runProgram(const std::vector<std::string> &arguments,
                   RunLimits limits = {});

/// Empty when it ended with `status`, in time, within 1 GiB, saying exactly
/// one line "quire: error: ...", and nothing else that looks like a crash.
/// Else what is wrong.
std::string faultOf(const Outcome &outcome, int status);

} // namespace quire::e2e

#endif
