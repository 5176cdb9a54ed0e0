// The options of `quire compile`, as the command line gives them.

#ifndef QUIRE_TOOLS_COMPILE_COMPILEOPTIONS_H
#define QUIRE_TOOLS_COMPILE_COMPILEOPTIONS_H

#include "passes/Pipeline.h"

#include <optional>
#include <string>
#include <vector>

namespace quire {

struct CompileOptions {
  std::string model;  // a directory, a .gguf file, or a config.json
  std::string output; // the engine's directory
  PipelineOptions pipeline;
  int64_t maxContext = 0; // 0: the model's own
  std::vector<std::string> isas;
  std::string machineProfile; // chooseMachineProfile's wish
  bool noWeights = false;
  bool explain = false;
  bool force = false;
  bool quiet = false;
  std::string dumpDirectory;
  std::string dumpAfterPass;
};

/// What the command line came to: options, or an exit status with everything
/// already printed (help, a wrong flag).
struct ParsedCommand {
  std::optional<CompileOptions> options;
  int exitStatus = 0;
};
ParsedCommand parseCompileCommand(int argc, char **argv);

} // namespace quire

#endif
