// Private to the GGUF reader: one file of a GGUF checkpoint, which may be one
// of several that a split checkpoint consists of.

#ifndef QUIRE_FRONTENDS_FORMATS_GGUFREAD_H
#define QUIRE_FRONTENDS_FORMATS_GGUFREAD_H

#include "frontends/formats/ByteReader.h"
#include "frontends/formats/GgufMetadata.h"
#include "frontends/formats/MappedFile.h"
#include "frontends/formats/TensorView.h"

#include <string>
#include <string_view>
#include <vector>

namespace quire {

struct GgufPart {
  MappedFile file;
  GgufMetadata metadata;
  std::vector<TensorView> tensors;
};

/// Every offset and size is checked; messages name the file.
absl::StatusOr<GgufPart> openGgufPart(const std::string &path);

/// Error: the file ends inside `inside`.
absl::Status ggufEnds(std::string_view inside);
/// A length-prefixed key or tensor name; `what` is "metadata" or "tensor".
absl::StatusOr<std::string> readGgufName(ByteReader &reader,
                                         std::string_view what);

} // namespace quire

#endif
