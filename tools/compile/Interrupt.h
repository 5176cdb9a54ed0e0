// Ctrl-C while compiling: noted by the signal handler, asked for between
// pieces of work, so that half-written files are removed before the end.

#ifndef QUIRE_TOOLS_COMPILE_INTERRUPT_H
#define QUIRE_TOOLS_COMPILE_INTERRUPT_H

namespace quire {

void catchInterrupts();
bool interrupted();

} // namespace quire

#endif
