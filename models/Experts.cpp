#include "models/Experts.h"

#include "absl/strings/str_cat.h"

#include <cmath>

namespace quire {

absl::Status checkExperts(const ExpertsConfig &experts) {
  // A route's numbers are exact in f32 and fit a worker's scratch.
  constexpr int64_t kMostExperts = 4096;
  if (experts.count < 1 || experts.count > kMostExperts) {
    return absl::InvalidArgumentError(
        absl::StrCat("the configuration has ", experts.count,
                     " experts; a layer with experts has 1 to ", kMostExperts));
  }
  if (experts.intermediate < 1) {
    return absl::InvalidArgumentError(
        "the configuration's experts have an intermediate size of 0");
  }
  if (experts.top < 1 || experts.top > experts.count) {
    return absl::InvalidArgumentError(
        absl::StrCat("the configuration chooses ", experts.top, " of ",
                     experts.count, " experts for a token"));
  }
  if (experts.groups < 1 || experts.count % experts.groups != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the configuration has ", experts.groups, " groups of ", experts.count,
        " experts; groups must divide the experts evenly"));
  }
  if (experts.topGroups < 1 || experts.topGroups > experts.groups) {
    return absl::InvalidArgumentError(
        absl::StrCat("the configuration takes the best ", experts.topGroups,
                     " of ", experts.groups, " groups of experts"));
  }
  int64_t inGroup = experts.count / experts.groups;
  if (experts.top > inGroup * experts.topGroups) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the configuration chooses ", experts.top,
        " experts for a token where "
        "the best ",
        experts.topGroups, " groups hold ", inGroup * experts.topGroups));
  }
  if (experts.groups > 1 && experts.groupScore == GroupScore::TopTwo &&
      inGroup < 2) {
    return absl::InvalidArgumentError(
        "the configuration ranks groups by their two best experts, but each "
        "has one");
  }
  if (!std::isfinite(experts.scale)) {
    return absl::InvalidArgumentError(
        "the configuration's factor on the experts' weights is not finite");
  }
  return absl::OkStatus();
}

} // namespace quire
