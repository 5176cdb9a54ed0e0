// quire: compiles (through quire-compile), runs and looks into engines.

#include "tools/cli/Commands.h"

int main(int argc, char **argv) {
  return quire::cli::runCommandLine(argc, argv);
}
