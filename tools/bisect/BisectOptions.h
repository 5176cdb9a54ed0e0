// What `quire-compile --bisect` is given: by `quire inspect --bisect`, which
// has turned the prompt into ids and found the engine. And how an engine was
// compiled, as far as its numbers go.

#ifndef QUIRE_TOOLS_BISECT_BISECTOPTIONS_H
#define QUIRE_TOOLS_BISECT_BISECTOPTIONS_H

#include "absl/status/statusor.h"
#include "passes/Pipeline.h"
#include "runtime/engine/manifest.pb.h"

#include <optional>
#include <string>
#include <vector>

namespace quire::bisect {

struct BisectOptions {
  std::string checkpoint;
  std::string engine;
  std::vector<int32_t> tokens;
  std::string isa; // of the engine's code; empty: this CPU's best
  bool json = false;
};

/// Options, or an exit status with everything already printed.
struct ParsedBisect {
  std::optional<BisectOptions> options;
  int exitStatus = 0;
};
ParsedBisect parseBisectCommand(int argc, char **argv);

/// The pipeline that made the engine. Machine rates are left at the compiler's
/// constants: no number depends on them.
absl::StatusOr<PipelineOptions>
pipelineOptionsOf(const manifest::Manifest &manifest);

} // namespace quire::bisect

#endif
