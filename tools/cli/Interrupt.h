// Ctrl-C, and readers that go away. Signals are only counted; work asks
// between its steps. System calls that wait are not restarted, so that a read
// from a terminal ends, too.

#ifndef QUIRE_TOOLS_CLI_INTERRUPT_H
#define QUIRE_TOOLS_CLI_INTERRUPT_H

namespace quire::cli {

/// Counts SIGINT and SIGTERM from now on; a closed pipe becomes a failed
/// write instead of a signal.
void catchSignals();

bool interrupted();
/// Chat only: the interruption has been dealt with.
void forgetInterrupts();

} // namespace quire::cli

#endif
