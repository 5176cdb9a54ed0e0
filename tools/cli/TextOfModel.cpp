#include "tools/cli/TextOfModel.h"

#include "frontends/formats/GgufFile.h"
#include "frontends/formats/HuggingFaceDirectory.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "runtime/engine/StatusMacros.h"

#include <filesystem>

namespace quire::cli {

namespace {

absl::StatusOr<ModelText> textOfDirectory(const std::string &path) {
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::path(path) / "config.json",
                              ignored)) {
    QUIRE_ASSIGN_OR_RETURN(std::unique_ptr<HuggingFaceDirectory> directory,
                           HuggingFaceDirectory::openWithoutWeights(path));
    return readModelText(*directory);
  }
  ModelText text;
  QUIRE_ASSIGN_OR_RETURN(text.tokenizer, Tokenizer::fromDirectory(path));
  return text;
}

} // namespace

absl::StatusOr<ModelText> textOfEngine(const EngineDirectory &engine) {
  ModelText text;
  const manifest::Manifest &manifest = engine.manifest();
  text.chatTemplate = manifest.chat_template();
  text.generation = manifest.generation();
  if (manifest.has_tokenizer()) {
    QUIRE_ASSIGN_OR_RETURN(
        text.tokenizer, Tokenizer::load(engine.pathOf(manifest.tokenizer())));
  }
  return text;
}

absl::StatusOr<ModelText> textOfModel(const std::string &model) {
  std::error_code ignored;
  if (EngineDirectory::looksLikeEngine(model)) {
    EngineOpenOptions open;
    open.loadCode = false;
    QUIRE_ASSIGN_OR_RETURN(std::unique_ptr<EngineDirectory> engine,
                           EngineDirectory::open(model, open));
    return textOfEngine(*engine);
  }
  if (std::filesystem::is_directory(model, ignored)) {
    return textOfDirectory(model);
  }
  if (!std::filesystem::exists(model, ignored)) {
    return absl::NotFoundError(
        strCat("there is no model at ", printable(model),
               "; give an engine directory, a Hugging Face directory or a "
               ".gguf file"));
  }
  QUIRE_ASSIGN_OR_RETURN(std::unique_ptr<GgufFile> file, GgufFile::open(model));
  return readModelText(*file);
}

absl::StatusOr<const Tokenizer *> needTokenizer(const ModelText &text) {
  if (!text.tokenizer) {
    return absl::FailedPreconditionError(
        "the model has no tokenizer; give token ids with --tokens");
  }
  return text.tokenizer.get();
}

} // namespace quire::cli
