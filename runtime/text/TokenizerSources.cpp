// Where tokenizers come from: finds the files and hands them to the readers.

#include "frontends/formats/GgufFile.h"
#include "frontends/formats/Json.h"
#include "frontends/formats/StrCat.h"
#include "runtime/text/Importers.h"
#include "runtime/text/Tokenizer.h"

#include <filesystem>

namespace quire {

absl::StatusOr<std::unique_ptr<Tokenizer>>
Tokenizer::fromGguf(const GgufFile &file) {
  absl::StatusOr<TokenizerData> data = readGgufTokenizer(file.metadata());
  if (!data.ok()) {
    return inFile(file.path(), data.status());
  }
  return fromData(*data);
}

static absl::StatusOr<TokenizerData> readDirectory(const std::string &path) {
  std::error_code ignored;
  std::string json = path + "/tokenizer.json";
  if (std::filesystem::exists(json, ignored)) {
    JsonLimits limits;
    limits.maxValues = 16u << 20;
    absl::StatusOr<nlohmann::json> document = readJson(json, limits);
    if (!document.ok()) {
      return document.status();
    }
    absl::StatusOr<TokenizerData> data = readTokenizerJson(*document);
    return data.ok()
               ? std::move(data)
               : absl::StatusOr<TokenizerData>(inFile(json, data.status()));
  }
  std::string pieces = path + "/tokenizer.model";
  if (std::filesystem::exists(pieces, ignored)) {
    absl::StatusOr<MappedFile> file = MappedFile::open(pieces);
    if (!file.ok()) {
      return file.status();
    }
    absl::StatusOr<TokenizerData> data = readSentencePiece(file->text());
    return data.ok()
               ? std::move(data)
               : absl::StatusOr<TokenizerData>(inFile(pieces, data.status()));
  }
  return absl::NotFoundError(
      strCat("there is no tokenizer in '", path,
             "': it needs a tokenizer.json or a tokenizer.model"));
}

absl::StatusOr<std::unique_ptr<Tokenizer>>
Tokenizer::fromDirectory(const std::string &path) {
  absl::StatusOr<TokenizerData> data = readDirectory(path);
  if (!data.ok()) {
    return data.status();
  }
  absl::Status status = applyTokenizerConfig(path, *data);
  if (!status.ok()) {
    return status;
  }
  return fromData(*data);
}

} // namespace quire
