// One .safetensors file: tensors by name, and the free-form text of its
// __metadata__. Held to the letter of the format: names are unique and the
// tensors cover the data without gap or overlap. Immutable after opening; any
// thread may read.

#ifndef QUIRE_FRONTENDS_FORMATS_SAFETENSORSFILE_H
#define QUIRE_FRONTENDS_FORMATS_SAFETENSORSFILE_H

#include "frontends/formats/MappedFile.h"
#include "frontends/formats/TensorTable.h"

#include "nlohmann/json.hpp"

namespace quire {

class SafetensorsFile {
public:
  static absl::StatusOr<SafetensorsFile> open(const std::string &path);

  const MappedFile &file() const { return mapping; }
  const TensorView *find(std::string_view name) const {
    return table.find(name);
  }
  const std::vector<TensorView> &tensors() const { return table.all(); }
  /// An object of strings, empty when the file has none.
  const nlohmann::json &metadata() const { return freeText; }

private:
  explicit SafetensorsFile(MappedFile mapping) : mapping(std::move(mapping)) {}

  MappedFile mapping;
  TensorTable table;
  nlohmann::json freeText = nlohmann::json::object();
};

} // namespace quire

#endif
