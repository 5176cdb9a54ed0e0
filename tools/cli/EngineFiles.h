// The files of an engine beside what the runtime loads: checking all of them,
// and the IR of each phase where it was kept.

#ifndef QUIRE_TOOLS_CLI_ENGINEFILES_H
#define QUIRE_TOOLS_CLI_ENGINEFILES_H

#include "absl/status/statusor.h"
#include "runtime/engine/EngineDirectory.h"

#include <string>
#include <vector>

namespace quire::cli {

struct FileCheck {
  std::string path; // inside the engine
  int64_t bytes = 0;
  absl::Status status;
};

/// Size and checksum of every file the manifest names.
std::vector<FileCheck> checkFiles(const EngineDirectory &engine);

/// The IR that was kept of a phase; NotFound lists the phases there are.
absl::StatusOr<std::string> phaseIr(const EngineDirectory &engine,
                                    const std::string &phase);

} // namespace quire::cli

#endif
