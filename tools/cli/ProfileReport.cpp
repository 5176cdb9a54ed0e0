#include "tools/cli/ProfileReport.h"

#include "absl/strings/str_format.h"
#include "frontends/formats/StrCat.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <string_view>

namespace quire::cli {

using nlohmann::ordered_json;

namespace {

/// "2 linear_q4_k + linear_q6_k" for what the manifest spells out.
std::string shortKernel(std::string_view kernels) {
  constexpr std::string_view kJoint = " + ";
  std::vector<std::pair<std::string_view, int>> counts;
  while (!kernels.empty()) {
    std::string_view name = kernels.substr(0, kernels.find(kJoint));
    kernels.remove_prefix(
        std::min(kernels.size(), name.size() + kJoint.size()));
    auto seen = std::find_if(counts.begin(), counts.end(),
                             [&](auto &entry) { return entry.first == name; });
    if (seen == counts.end()) {
      counts.emplace_back(name, 1);
    } else {
      ++seen->second;
    }
  }
  std::string text;
  for (const auto &[name, count] : counts) {
    strAppend(text, text.empty() ? "" : kJoint,
              count > 1 ? strCat(count, " ") : "", name);
  }
  return text;
}

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

} // namespace

std::string profileText(const StepProfile &profile, const std::string &title,
                        const manifest::Manifest &manifest) {
  if (profile.steps == 0) {
    return strCat("no step of ", title, " was recorded\n");
  }
  std::string text = absl::StrFormat(
      "\n%s: %.1f us a step of %d rows on %d workers (mean of the faster half "
      "of %d steps)\n%-28s %6s %10s %10s %7s %8s  %s\n",
      title, profile.step, profile.rows, profile.workers, profile.recordedSteps,
      "launch", "times", "us each", "us a step", "share", "waiting", "kernel");
  std::vector<LaunchTime> launches = profile.launches;
  std::sort(launches.begin(), launches.end(),
            [](const LaunchTime &a, const LaunchTime &b) {
              return a.elapsed() > b.elapsed();
            });
  for (const LaunchTime &time : launches) {
    const manifest::Launch &launch = launchOf(manifest, time.launch);
    absl::StrAppendFormat(
        &text, "%-28s %6.0f %10.2f %10.1f %6.1f%% %7.1f%%  %s\n",
        launch.name().substr(0, 28), time.times, time.elapsed() / time.times,
        time.elapsed(), percent(time.elapsed(), profile.step),
        percent(time.waiting, time.elapsed()), shortKernel(launch.kernel()));
  }
  absl::StrAppendFormat(
      &text,
      "%-28s %6s %10s %10.1f %6.1f%%\nwaiting at barriers, in all %.1f%% of "
      "the step; between steps %.1f us (%.1f%%)\n\n",
      "workers that came late", "", "", profile.outside,
      percent(profile.outside, profile.step),
      percent(profile.waiting, profile.step), profile.between,
      percent(profile.between, profile.step));
  return text;
}

ordered_json profileJson(const StepProfile &profile,
                         const manifest::Manifest &manifest) {
  ordered_json launches = ordered_json::array();
  for (const LaunchTime &time : profile.launches) {
    const manifest::Launch &launch = launchOf(manifest, time.launch);
    launches.push_back(
        {{"name", launch.name()},
         {"kernel", launch.kernel()},
         {"times", time.times},
         {"microseconds", time.elapsed()},
         {"waiting_microseconds", time.waiting},
         {"share", percent(time.elapsed(), profile.step) / 100}});
  }
  return {{"steps", profile.steps},
          {"recorded_steps", profile.recordedSteps},
          {"rows", profile.rows},
          {"workers", profile.workers},
          {"step_microseconds", profile.step},
          {"waiting_microseconds", profile.waiting},
          {"late_share", percent(profile.outside, profile.step) / 100},
          {"between_microseconds", profile.between},
          {"launches", std::move(launches)}};
}

} // namespace quire::cli
