// `quire inspect --bisect`, once the prompt is ids and the engine found.

#ifndef QUIRE_TOOLS_BISECT_BISECTCOMMAND_H
#define QUIRE_TOOLS_BISECT_BISECTCOMMAND_H

namespace quire::bisect {

/// Returns the exit status: 1 where a step is wrong or the work failed.
/// argv[0] is the flag that chose the command.
int bisectCommand(int argc, char **argv);

} // namespace quire::bisect

#endif
