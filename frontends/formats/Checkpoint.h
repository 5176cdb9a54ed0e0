// A checkpoint on disk, whatever its container: tensors by name and the
// configuration as JSON. Opened files are mapped read-only; opening checks
// every offset and size, so that a TensorView can be trusted. Immutable after
// opening; any thread may read.

#ifndef QUIRE_FRONTENDS_FORMATS_CHECKPOINT_H
#define QUIRE_FRONTENDS_FORMATS_CHECKPOINT_H

#include "frontends/formats/TensorView.h"

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

enum class CheckpointKind { HuggingFace, Gguf };

class Checkpoint {
public:
  virtual ~Checkpoint() = default;
  virtual CheckpointKind kind() const = 0;
  /// Path as the user gave it, for messages and provenance.
  virtual const std::string &path() const = 0;
  /// Null when there is no such tensor.
  virtual const TensorView *find(std::string_view name) const = 0;
  virtual const std::vector<TensorView> &tensors() const = 0;
  /// HuggingFace: config.json as it stands. Gguf: one flat object of the
  /// metadata ("llama.block_count": 30, ...); arrays longer than 1024 elements
  /// (vocabularies) and text beyond 1 MiB are left out and read through
  /// GgufFile::metadata() instead.
  virtual const nlohmann::json &config() const = 0;
};

/// Opens a Hugging Face directory or a .gguf file (the first of a split one).
absl::StatusOr<std::unique_ptr<Checkpoint>>
openCheckpoint(const std::string &path);

} // namespace quire

#endif
