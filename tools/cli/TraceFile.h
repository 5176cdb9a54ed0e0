// A trace of recorded steps in the JSON that Perfetto (ui.perfetto.dev) and
// chrome://tracing open: one track for the steps, one for each worker with its
// launches and its waits at barriers.

#ifndef QUIRE_TOOLS_CLI_TRACEFILE_H
#define QUIRE_TOOLS_CLI_TRACEFILE_H

#include "absl/status/statusor.h"
#include "runtime/engine/manifest.pb.h"
#include "runtime/exec/StepRecord.h"

#include "nlohmann/json.hpp"

#include <fstream>
#include <memory>
#include <string>

namespace quire::cli {

class TraceFile {
public:
  /// Opens the file at once, so that a wrong path is known before any work.
  static absl::StatusOr<std::unique_ptr<TraceFile>>
  create(const std::string &path, const manifest::Manifest &manifest);

  /// Adds the steps of one recording, the first `most` of them.
  void add(const StepRecord &record, const std::string &title, int64_t most);

  /// Ends the document.
  absl::Status close();

private:
  TraceFile(const std::string &path, const manifest::Manifest &manifest)
      : path(path), manifest(manifest), file(path) {}
  void nameTrack(int64_t track, const std::string &name);
  void write(const nlohmann::ordered_json &event);
  void slice(int64_t track, const char *category, const std::string &name,
             int64_t begin, int64_t end, nlohmann::ordered_json args);
  void addSample(int64_t track, const WorkerSample &sample);

  std::string path;
  const manifest::Manifest &manifest;
  std::ofstream file;
  bool first = true;
  int64_t namedTracks = 0;
  int64_t origin = -1; // nanoseconds that the trace counts from
};

} // namespace quire::cli

#endif
