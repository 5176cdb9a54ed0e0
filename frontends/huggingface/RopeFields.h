// The rotary part of config.json in all its spellings: rope_theta beside
// rope_scaling (with "type" or "rope_type"), or rope_parameters, flat or one
// object per kind of layer.

#ifndef QUIRE_FRONTENDS_HUGGINGFACE_ROPEFIELDS_H
#define QUIRE_FRONTENDS_HUGGINGFACE_ROPEFIELDS_H

#include "models/Rope.h"

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

#include <string_view>

namespace quire::huggingface {

struct RopeDefaults {
  double base = 10000;
  int64_t headDim = 0;
  int64_t maxContext = 0;
  bool ignoreScaling = false; // Gemma's sliding layers take none
};

/// `layerType` is "full_attention" or "sliding_attention"; it matters only
/// where rope_parameters is nested.
absl::StatusOr<RopeConfig> readRope(const nlohmann::json &config,
                                    std::string_view layerType,
                                    const RopeDefaults &defaults);

} // namespace quire::huggingface

#endif
