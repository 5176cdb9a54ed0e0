#include "tools/cli/StepProfile.h"

#include <algorithm>
#include <map>
#include <utility>

namespace quire::cli {

namespace {

/// One step with its part of every worker's samples.
struct RecordedStep {
  StepSample step;
  double between = -1; // -1: nothing came before
  std::vector<WorkerSample> samples;

  int64_t nanoseconds() const { return step.end - step.begin; }
};

std::vector<RecordedStep> stepsOf(const std::vector<StepRecord> &stretches) {
  std::vector<RecordedStep> all;
  for (const StepRecord &record : stretches) {
    size_t first = all.size();
    for (const StepSample &step : record.steps) {
      double between =
          all.size() == first
              ? -1
              : static_cast<double>(step.begin - all.back().step.end);
      all.push_back({step, between, {}});
    }
    for (const std::vector<WorkerSample> &track : record.workers) {
      size_t at = first;
      for (WorkerSample sample : track) {
        while (at < all.size() && all[at].step.end <= sample.begin) {
          ++at;
        }
        if (at == all.size()) {
          break; // a worker that came by when all was done
        }
        sample.end = std::min(sample.end, all[at].step.end);
        all[at].samples.push_back(sample);
      }
    }
  }
  return all;
}

void keepFasterHalf(std::vector<RecordedStep> &steps) {
  int64_t rows = 0;
  for (const RecordedStep &step : steps) {
    rows = std::max(rows, step.step.rows);
  }
  std::erase_if(
      steps, [&](const RecordedStep &step) { return step.step.rows < rows; });
  std::sort(steps.begin(), steps.end(),
            [](const RecordedStep &a, const RecordedStep &b) {
              return std::pair(a.nanoseconds(), a.step.begin) <
                     std::pair(b.nanoseconds(), b.step.begin);
            });
  steps.resize((steps.size() + 1) / 2);
}

} // namespace

StepProfile profileOf(const std::vector<StepRecord> &stretches) {
  StepProfile profile;
  std::vector<RecordedStep> steps = stepsOf(stretches);
  profile.recordedSteps = static_cast<int64_t>(steps.size());
  keepFasterHalf(steps);
  profile.steps = static_cast<int64_t>(steps.size());
  if (steps.empty()) {
    return profile;
  }
  profile.rows = steps.front().step.rows;
  profile.logitRows = steps.front().step.logitRows;
  profile.workers = static_cast<int>(stretches.front().workers.size());
  const double count = static_cast<double>(steps.size());
  // Nanoseconds of all workers and steps to microseconds of one.
  const double share = 1e-3 / (count * profile.workers);
  std::map<int32_t, LaunchTime> launches;
  std::map<int32_t, std::map<std::pair<size_t, int64_t>, int>> seen;
  double gaps = 0;
  double gapSteps = 0;
  for (size_t number = 0; number < steps.size(); ++number) {
    const RecordedStep &step = steps[number];
    profile.step += static_cast<double>(step.nanoseconds()) * 1e-3 / count;
    if (step.between >= 0) {
      gaps += step.between * 1e-3;
      gapSteps += 1;
    }
    for (const WorkerSample &sample : step.samples) {
      LaunchTime &launch = launches[sample.launch];
      launch.launch = sample.launch;
      double time = static_cast<double>(sample.end - sample.begin) * share;
      (sample.waiting ? launch.waiting : launch.working) += time;
      if (!sample.waiting) {
        seen[sample.launch][{number, sample.layer}] = 1;
      }
    }
  }
  profile.between = gapSteps > 0 ? gaps / gapSteps : 0;
  profile.outside = profile.step;
  for (auto &[number, launch] : launches) {
    launch.times = static_cast<double>(seen[number].size()) / count;
    profile.waiting += launch.waiting;
    profile.outside -= launch.elapsed();
    profile.launches.push_back(launch);
  }
  return profile;
}

const manifest::Launch &launchOf(const manifest::Manifest &manifest,
                                 int32_t number) {
  bool known = manifest.programs_size() > 0 && number >= 0 &&
               number < manifest.programs(0).launches_size();
  return known ? manifest.programs(0).launches(number)
               : manifest::Launch::default_instance();
}

} // namespace quire::cli
