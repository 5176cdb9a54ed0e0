// quire-compile: the compiler behind `quire compile`.

#include "tools/compile/CompileModel.h"

int main(int argc, char **argv) {
  quire::ParsedCommand command = quire::parseCompileCommand(argc, argv);
  return command.options ? quire::compileModel(*command.options)
                         : command.exitStatus;
}
