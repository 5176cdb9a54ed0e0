// quire inspect --bisect: turns the prompt into ids, finds or compiles the
// engine and its checkpoint, and hands over to the compiler, which alone has
// the passes and the reference interpreter (tools/bisect).

#ifndef QUIRE_TOOLS_CLI_INSPECTBISECT_H
#define QUIRE_TOOLS_CLI_INSPECTBISECT_H

#include "tools/cli/ModelOptions.h"

namespace quire::cli {

struct BisectRequest {
  bool wanted = false;
  std::string checkpoint; // empty: MODEL
  std::string prompt;
  std::string tokens; // instead of the prompt

  void addTo(Arguments &arguments);
  /// Refuses options that do not go together.
  absl::Status check(const Arguments &arguments) const;
};

/// Returns only on failure.
absl::Status bisect(const BisectRequest &request, const ModelOptions &model,
                    bool json);

} // namespace quire::cli

#endif
