// The readers that turn a model's tokenizer files into TokenizerData. Each
// refuses by name what it does not know: a rule that were skipped would give
// plausible, wrong ids. Pure functions.

#ifndef QUIRE_RUNTIME_TEXT_IMPORTERS_H
#define QUIRE_RUNTIME_TEXT_IMPORTERS_H

#include "runtime/text/TokenizerData.h"

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

#include <string>

namespace quire {

class GgufMetadata;

/// A Hugging Face tokenizer.json.
absl::StatusOr<TokenizerData> readTokenizerJson(const nlohmann::json &document);
/// Its "model" and "added_tokens".
absl::Status readJsonModel(const nlohmann::json &document, TokenizerData &data);
/// Its "normalizer", "pre_tokenizer", "decoder" and "post_processor".
absl::Status readJsonNormalizer(const nlohmann::json &step,
                                TokenizerData &data);
absl::Status readJsonPreTokenizer(const nlohmann::json &step,
                                  TokenizerData &data);
absl::Status readJsonDecoder(const nlohmann::json &step, TokenizerData &data);
absl::Status readJsonPostProcessor(const nlohmann::json &step,
                                   TokenizerData &data);

/// A SentencePiece tokenizer.model.
absl::StatusOr<TokenizerData> readSentencePiece(std::string_view bytes);

/// The tokenizer.ggml.* keys.
absl::StatusOr<TokenizerData> readGgufTokenizer(const GgufMetadata &metadata);

/// The rules of SentencePiece models around the pieces: the mark for spaces,
/// the space in front, the character map.
struct SentencePieceRules {
  std::string charsMap;
  bool dummyPrefix = true;
  bool removeExtraSpaces = false;
};
void applySentencePieceRules(const SentencePieceRules &rules,
                             TokenizerData &data);

/// Sets the pre-tokenizer that GGUF files call `name`, with what goes with it
/// (ignoreMerges, a normal form). Returns whether such models begin their
/// texts with the begin token by default.
absl::StatusOr<bool> applyGgufPreTokenizer(std::string_view name,
                                           TokenizerData &data);

/// Adds what tokenizer_config.json, special_tokens_map.json,
/// generation_config.json and config.json in `directory` say about begin, end
/// and padding tokens.
absl::Status applyTokenizerConfig(const std::string &directory,
                                  TokenizerData &data);

/// Adds an end id once.
void addEndId(TokenizerData &data, TokenId id);

} // namespace quire

#endif
