// Reads a Hugging Face config.json into a ModelConfig. Refuses, by name, an
// unknown architecture and any field that it does not know: such a field may
// change the mathematics. No MLIR here.

#ifndef QUIRE_FRONTENDS_HUGGINGFACE_CONFIG_H
#define QUIRE_FRONTENDS_HUGGINGFACE_CONFIG_H

#include "models/ModelConfig.h"

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace quire {

absl::StatusOr<ModelConfig> readHuggingFaceConfig(const nlohmann::json &config);

} // namespace quire

#endif
