// A GGUF checkpoint: one file, or the files `NAME-00001-of-0000N.gguf` that a
// split one consists of, opened by the first. Versions 2 and 3. The object
// owns the mappings that its tensors and strings point into. Immutable after
// opening; any thread may read.

#ifndef QUIRE_FRONTENDS_FORMATS_GGUFFILE_H
#define QUIRE_FRONTENDS_FORMATS_GGUFFILE_H

#include "frontends/formats/Checkpoint.h"
#include "frontends/formats/GgufMetadata.h"
#include "frontends/formats/MappedFile.h"
#include "frontends/formats/TensorTable.h"

#include "nlohmann/json.hpp"

namespace quire {

class GgufFile final : public Checkpoint {
public:
  static absl::StatusOr<std::unique_ptr<GgufFile>>
  open(const std::string &path);

  CheckpointKind kind() const override { return CheckpointKind::Gguf; }
  const std::string &path() const override { return firstPath; }
  const TensorView *find(std::string_view name) const override {
    return table.find(name);
  }
  const std::vector<TensorView> &tensors() const override {
    return table.all();
  }
  const nlohmann::json &config() const override { return json; }

  /// Of the first file: the others repeat none of it.
  const GgufMetadata &metadata() const { return firstMetadata; }
  /// All files in order, for cache keys and provenance.
  const std::vector<MappedFile> &files() const { return mappings; }

private:
  GgufFile() = default;

  std::string firstPath;
  std::vector<MappedFile> mappings;
  GgufMetadata firstMetadata;
  TensorTable table;
  nlohmann::json json;
};

} // namespace quire

#endif
