#include "tools/cli/Commands.h"

#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "tools/cli/Compiler.h"
#include "tools/cli/Interrupt.h"
#include "tools/cli/Report.h"

#include <cstdio>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <unistd.h>

namespace quire::cli {

namespace {

struct Command {
  const char *name;
  const char *summary;
  absl::Status (*run)(int argc, char **argv);
};

constexpr Command kCommands[] = {
    {"compile", "turn a checkpoint into an engine", compileCommand},
    {"run", "continue a prompt, or many together", runCommand},
    {"chat", "talk to a model", chatCommand},
    {"eval", "score given text", evalCommand},
    {"tokenize", "text to token ids and back", tokenizeCommand},
    {"inspect", "look into an engine", inspectCommand},
    {"bench", "measure speed beside the machine's ceilings", benchCommand},
};

std::string helpText() {
  std::string text = "usage: quire COMMAND MODEL [options]\n\n";
  for (const Command &command : kCommands) {
    std::string name = command.name;
    name.resize(12, ' ');
    strAppend(text, "  ", name, command.summary, "\n");
  }
  strAppend(text,
            "\nMODEL is an engine directory, a Hugging Face directory or a "
            ".gguf file.\n`quire COMMAND --help` lists a command's options.\n");
  return text;
}

absl::Status dispatch(int argc, char **argv) {
  if (argc < 2) {
    return usageError(strCat("no command given; see quire --help"));
  }
  std::string_view name = argv[1];
  for (const Command &command : kCommands) {
    if (name == command.name) {
      return command.run(argc - 1, argv + 1);
    }
  }
  return usageError(
      strCat("there is no command '", printable(name), "'; see quire --help"));
}

/// With a standard descriptor closed, the next file opened would take its
/// number and collect what is meant for it. The stand-in for a closed output
/// cannot be written, that for a closed input not be read, as before.
void occupyStandardDescriptors() {
  int file = 0;
  while (file >= 0 && file <= STDERR_FILENO) {
    // Takes the lowest free number; ends with one above.
    file = ::open("/dev/null", O_RDONLY);
    if (file == STDIN_FILENO) {
      ::close(file);
      file = ::open("/dev/null", O_WRONLY);
    }
  }
  ::close(file);
}

} // namespace

int runCommandLine(int argc, char **argv) {
  occupyStandardDescriptors();
  std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--version") {
    std::printf("quire %s\n", QUIRE_VERSION);
    return 0;
  }
  if (first == "--help" || first == "-h" || first == "help") {
    std::fputs(helpText().c_str(), stdout);
    return 0;
  }
  catchSignals();
  return exitStatusOf(dispatch(argc, argv));
}

absl::Status compileCommand(int argc, char **argv) {
  return becomeCompiler({argv + 1, argv + argc});
}

} // namespace quire::cli
