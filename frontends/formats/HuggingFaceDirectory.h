// A checkpoint as Hugging Face lays it out: config.json, the weights in
// model.safetensors or in shards that an index names, and beside them
// tokenizer and generation settings that others read by name. Where there is
// an index, it alone decides which file a tensor comes from. Immutable after
// opening; any thread may read.

#ifndef QUIRE_FRONTENDS_FORMATS_HUGGINGFACEDIRECTORY_H
#define QUIRE_FRONTENDS_FORMATS_HUGGINGFACEDIRECTORY_H

#include "frontends/formats/Checkpoint.h"
#include "frontends/formats/SafetensorsFile.h"
#include "frontends/formats/TensorTable.h"

#include "nlohmann/json.hpp"

namespace quire {

class HuggingFaceDirectory final : public Checkpoint {
public:
  /// Weights must be there, and all that the index names.
  static absl::StatusOr<std::unique_ptr<HuggingFaceDirectory>>
  open(const std::string &directory);

  /// A configuration alone, `path` being the directory or its config.json;
  /// the result has no tensors, even if there are weights.
  static absl::StatusOr<std::unique_ptr<HuggingFaceDirectory>>
  openWithoutWeights(const std::string &path);

  CheckpointKind kind() const override { return CheckpointKind::HuggingFace; }
  const std::string &path() const override { return givenPath; }
  const TensorView *find(std::string_view name) const override {
    return table.find(name);
  }
  const std::vector<TensorView> &tensors() const override {
    return table.all();
  }
  const nlohmann::json &config() const override { return json; }

  /// Path of a file in the directory, whether or not it is there.
  std::string fileIn(std::string_view name) const;
  bool hasFile(std::string_view name) const;
  /// "generation_config.json" and its like; NotFound when it is not there.
  absl::StatusOr<nlohmann::json> readJson(std::string_view name) const;

  /// The files that the tensors come from, for cache keys and provenance.
  const std::vector<SafetensorsFile> &files() const { return shards; }

private:
  HuggingFaceDirectory() = default;
  absl::Status openSingle();
  absl::Status openSharded();

  std::string givenPath;
  std::string directory;
  nlohmann::json json;
  std::vector<SafetensorsFile> shards;
  TensorTable table;
};

} // namespace quire

#endif
