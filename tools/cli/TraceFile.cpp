#include "tools/cli/TraceFile.h"

#include "frontends/formats/StrCat.h"
#include "tools/cli/StepProfile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace quire::cli {

using nlohmann::ordered_json;

namespace {

/// Track 0 holds the steps, worker w has track w + 1.
constexpr int64_t kStepTrack = 0;

ordered_json about(int64_t track, const char *what, ordered_json args) {
  return {{"ph", "M"},
          {"pid", 1},
          {"tid", track},
          {"name", what},
          {"args", std::move(args)}};
}

} // namespace

absl::StatusOr<std::unique_ptr<TraceFile>>
TraceFile::create(const std::string &path, const manifest::Manifest &manifest) {
  std::unique_ptr<TraceFile> trace(new TraceFile(path, manifest));
  if (!trace->file) {
    return absl::UnavailableError(
        strCat("cannot write the trace ", path, ": ", std::strerror(errno),
               "; give --trace a file in a directory that can be written"));
  }
  trace->file << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  trace->write(about(kStepTrack, "process_name",
                     {{"name", strCat("quire ", manifest.model().name())}}));
  trace->nameTrack(kStepTrack, "steps");
  return trace;
}

void TraceFile::write(const ordered_json &event) {
  file << (first ? "" : ",\n")
       << event.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  first = false;
}

void TraceFile::nameTrack(int64_t track, const std::string &name) {
  write(about(track, "thread_name", {{"name", name}}));
  write(about(track, "thread_sort_index", {{"sort_index", track}}));
  ++namedTracks;
}

void TraceFile::slice(int64_t track, const char *category,
                      const std::string &name, int64_t begin, int64_t end,
                      ordered_json args) {
  write({{"ph", "X"},
         {"pid", 1},
         {"tid", track},
         {"cat", category},
         {"name", name},
         {"ts", static_cast<double>(begin - origin) / 1e3}, // microseconds
         {"dur", static_cast<double>(end - begin) / 1e3},
         {"args", std::move(args)}});
}

void TraceFile::add(const StepRecord &record, const std::string &title,
                    int64_t most) {
  int64_t steps = std::min(most, static_cast<int64_t>(record.steps.size()));
  if (steps <= 0) {
    return;
  }
  if (origin < 0) {
    origin = record.steps.front().begin;
  }
  for (int64_t i = 0; i < steps; ++i) {
    const StepSample &step = record.steps[i];
    slice(kStepTrack, "step", title, step.begin, step.end,
          {{"rows", step.rows}, {"logit_rows", step.logitRows}});
  }
  int64_t last = record.steps[steps - 1].end;
  for (size_t worker = 0; worker < record.workers.size(); ++worker) {
    int64_t track = static_cast<int64_t>(worker) + 1;
    if (track >= namedTracks) {
      nameTrack(track, strCat("worker ", worker));
    }
    for (const WorkerSample &sample : record.workers[worker]) {
      if (sample.begin >= last) {
        break;
      }
      addSample(track, sample);
    }
  }
}

void TraceFile::addSample(int64_t track, const WorkerSample &sample) {
  const manifest::Launch &launch = launchOf(manifest, sample.launch);
  ordered_json args = {{"layer", sample.layer}};
  if (sample.waiting) {
    slice(track, "barrier", strCat("wait for ", launch.name()), sample.begin,
          sample.end, std::move(args));
    return;
  }
  args["tiles"] = sample.tiles;
  args["kernel"] = launch.kernel();
  slice(track, "kernel", launch.name(), sample.begin, sample.end,
        std::move(args));
}

absl::Status TraceFile::close() {
  file << "\n]}\n";
  file.close();
  return file ? absl::OkStatus()
              : absl::UnavailableError(strCat("cannot write the trace ", path,
                                              "; is the disk full?"));
}

} // namespace quire::cli
