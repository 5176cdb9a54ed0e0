// Which files a checkpoint consists of and how each is told from a changed
// one, without reading them whole.

#ifndef QUIRE_TOOLS_CLI_CHECKPOINTFILES_H
#define QUIRE_TOOLS_CLI_CHECKPOINTFILES_H

#include "absl/status/statusor.h"

#include <string>
#include <vector>

namespace quire::cli {

/// All files of a checkpoint, absolute, in a fixed order: a GGUF file with its
/// other parts, or a directory's configuration, tokenizer and weights.
absl::StatusOr<std::vector<std::string>>
checkpointFiles(const std::string &model);

/// Size, time of change and a hash of the first `headerBytes` as text.
absl::StatusOr<std::string> describeFile(const std::string &path,
                                         int64_t headerBytes);

} // namespace quire::cli

#endif
