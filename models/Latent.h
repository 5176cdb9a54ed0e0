// Whether a configuration's latent attention can be, and what follows from it:
// the same for every frontend.

#ifndef QUIRE_MODELS_LATENT_H
#define QUIRE_MODELS_LATENT_H

#include "models/ModelConfig.h"

#include "absl/status/status.h"

namespace quire {

/// Refuses ranks and widths that contradict themselves.
absl::Status checkLatent(const ModelConfig &model);

/// The factor on scores: one over the root of a query's width, times what YaRN
/// adds by `mscale_all_dim` to queries and keys as a whole.
double latentAttentionScale(const LatentConfig &latent, const RopeConfig &rope);

} // namespace quire

#endif
