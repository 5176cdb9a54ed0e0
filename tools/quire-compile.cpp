// quire-compile: the compiler behind `quire compile`, and behind
// `quire inspect --bisect`, which calls it with --bisect in front.

#include "tools/bisect/BisectCommand.h"
#include "tools/compile/CompileModel.h"

#include <string_view>

int main(int argc, char **argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--bisect") {
    return quire::bisect::bisectCommand(argc - 1, argv + 1);
  }
  quire::ParsedCommand command = quire::parseCompileCommand(argc, argv);
  return command.options ? quire::compileModel(*command.options)
                         : command.exitStatus;
}
