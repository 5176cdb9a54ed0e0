// Where the time of a step goes: what the workers were recorded doing, added
// up by launch. The time of a launch is the mean over all workers of what they
// spent in its tiles and waiting behind it, so that the times of all launches
// and of the rest add up to the step.

#ifndef QUIRE_TOOLS_CLI_STEPPROFILE_H
#define QUIRE_TOOLS_CLI_STEPPROFILE_H

#include "runtime/engine/manifest.pb.h"
#include "runtime/exec/StepRecord.h"

#include <vector>

namespace quire::cli {

/// All of one launch in a step, in microseconds.
struct LaunchTime {
  int32_t launch = 0; // its number in the manifest
  double times = 0;   // a step
  double working = 0; // in its tiles
  double waiting = 0; // at the barrier behind it
  double elapsed() const { return working + waiting; }
};

struct StepProfile {
  int64_t recordedSteps = 0;
  int64_t steps = 0; // that the figures are the mean of
  int64_t rows = 0;  // of one of them
  int64_t logitRows = 0;
  int workers = 0;
  double step = 0;    // microseconds
  double waiting = 0; // of it at barriers, part of the launches' time
  double outside = 0; // of it in no launch: workers that came late
  double between = 0; // from the end of a step to the next: the host's time
  std::vector<LaunchTime> launches; // in the order of their numbers
};

/// Over the faster half of the steps: what disturbs the others is not the
/// program's. Steps of fewer rows than the largest (a prompt's tail) are left
/// out. `stretches` are records of uninterrupted runs.
StepProfile profileOf(const std::vector<StepRecord> &stretches);

/// What the manifest says of a launch; an empty message where it says nothing.
const manifest::Launch &launchOf(const manifest::Manifest &manifest,
                                 int32_t number);

} // namespace quire::cli

#endif
