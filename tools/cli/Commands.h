// The commands of `quire` and the table that names them. Each command parses
// its own arguments (argv[0] is its name), does its work and returns what
// came of it; turning that into a message and an exit status happens once, in
// runCommandLine.

#ifndef QUIRE_TOOLS_CLI_COMMANDS_H
#define QUIRE_TOOLS_CLI_COMMANDS_H

#include "absl/status/status.h"

namespace quire::cli {

/// Returns the exit status of the process.
int runCommandLine(int argc, char **argv);

absl::Status compileCommand(int argc, char **argv);
absl::Status runCommand(int argc, char **argv);
absl::Status chatCommand(int argc, char **argv);
absl::Status evalCommand(int argc, char **argv);
absl::Status tokenizeCommand(int argc, char **argv);
absl::Status inspectCommand(int argc, char **argv);
absl::Status benchCommand(int argc, char **argv);

} // namespace quire::cli

#endif
