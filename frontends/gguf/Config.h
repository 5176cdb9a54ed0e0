// Reads a GGUF file's metadata into a ModelConfig. Refuses, by name, an
// unknown architecture and unknown fields of the architecture. No MLIR here.

#ifndef QUIRE_FRONTENDS_GGUF_CONFIG_H
#define QUIRE_FRONTENDS_GGUF_CONFIG_H

#include "models/ModelConfig.h"

#include "absl/status/statusor.h"

namespace quire {

class Checkpoint;

absl::StatusOr<ModelConfig> readGgufConfig(const Checkpoint &checkpoint);

} // namespace quire

#endif
