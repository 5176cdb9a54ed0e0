// Whether a configuration's experts can be: one check for every frontend.

#ifndef QUIRE_MODELS_EXPERTS_H
#define QUIRE_MODELS_EXPERTS_H

#include "models/ModelConfig.h"

#include "absl/status/status.h"

namespace quire {

/// Refuses what contradicts itself: experts, groups and how many of each are
/// taken.
absl::Status checkExperts(const ExpertsConfig &experts);

} // namespace quire

#endif
