#include "frontends/formats/Checkpoint.h"

#include "frontends/formats/GgufFile.h"
#include "frontends/formats/HuggingFaceDirectory.h"
#include "frontends/formats/StrCat.h"

#include <filesystem>

namespace quire {

absl::StatusOr<std::unique_ptr<Checkpoint>>
openCheckpoint(const std::string &path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return HuggingFaceDirectory::open(path);
  }
  // A file that is not there gets the reader's own message.
  if (path.ends_with(".gguf") || !std::filesystem::exists(path, ignored)) {
    return GgufFile::open(path);
  }
  return absl::InvalidArgumentError(
      strCat("'", path,
             "' is neither a directory with a config.json nor a .gguf "
             "file; give the directory of a Hugging Face checkpoint or "
             "a GGUF file"));
}

} // namespace quire
