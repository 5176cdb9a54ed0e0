// Text to token ids and back, exactly as the model's own tokenizer does it.
// Made from a Hugging Face directory, a GGUF file or an engine's tokenizer
// file; all three end in the same TokenizerImage and behave alike. Immutable
// once made; any thread may call any member.

#ifndef QUIRE_RUNTIME_TEXT_TOKENIZER_H
#define QUIRE_RUNTIME_TEXT_TOKENIZER_H

#include "runtime/text/AddedTokens.h"
#include "runtime/text/Normalizer.h"
#include "runtime/text/PieceModel.h"
#include "runtime/text/PreTokenizer.h"
#include "runtime/text/TokenizerImage.h"

#include <span>

namespace quire {

class GgufFile;

struct EncodeOptions {
  bool addSpecial = true;   // the begin and end tokens the tokenizer declares
  bool parseSpecial = true; // control tokens written out in the text count
};

/// A piece of a rendered chat: control tokens count only in what the template
/// itself wrote, never in the contents of messages.
struct TextSegment {
  std::string_view text;
  bool isTemplate = false;
};

struct DecodeOptions {
  bool skipSpecial = false; // leave control tokens out
  /// The ids go on after others: a space that the tokenizer puts before the
  /// first word of a text is then a real one.
  bool continues = false;
};

class Tokenizer {
public:
  /// tokenizer.json or tokenizer.model, with the configuration files beside.
  static absl::StatusOr<std::unique_ptr<Tokenizer>>
  fromDirectory(const std::string &path);
  static absl::StatusOr<std::unique_ptr<Tokenizer>>
  fromGguf(const GgufFile &file);
  static absl::StatusOr<std::unique_ptr<Tokenizer>>
  fromData(const TokenizerData &data);
  /// An engine's tokenizer file, as save() writes it.
  static absl::StatusOr<std::unique_ptr<Tokenizer>>
  load(const std::string &path);
  absl::Status save(const std::string &path) const;

  /// Bytes that are no UTF-8 are read as U+FFFD.
  absl::StatusOr<std::vector<TokenId>> encode(std::string_view text,
                                              EncodeOptions options = {}) const;
  /// Encodes the segments as one text. With addSpecial the begin token is
  /// added only where the template did not already write it.
  absl::StatusOr<std::vector<TokenId>>
  encodeSegments(std::span<const TextSegment> segments,
                 bool addSpecial = false) const;

  /// Ids outside the vocabulary decode to nothing.
  std::string decode(std::span<const TokenId> ids,
                     DecodeOptions options = {}) const;

  size_t vocabSize() const { return image->size(); }
  /// The piece as the model sees it: raw bytes (perhaps not whole characters)
  /// with byte-level BPE, text with marks for spaces otherwise. Empty outside
  /// the vocabulary.
  std::string_view piece(TokenId id) const;
  bool isSpecial(TokenId id) const;
  /// The id of a piece with exactly this text, special ones first, or -1.
  TokenId idOf(std::string_view text) const;
  /// -1 when there is none.
  TokenId bosId() const { return image->settings().bosId; }
  TokenId padId() const { return image->settings().padId; }
  /// Every id that ends a text or a turn, the tokenizer's own first.
  std::span<const TokenId> endIds() const { return image->settings().endIds; }
  bool isEnd(TokenId id) const;
  /// Does addSpecial put a begin token in front?
  bool addsBos() const;

  /// What piece `id` adds to the text, before bytes become characters.
  /// `first`: it is the first piece of a text.
  std::string pieceBytes(TokenId id, bool first) const;
  const TokenizerImage &data() const { return *image; }

private:
  Tokenizer(std::shared_ptr<const TokenizerImage> image, Normalizer normalizer,
            PreTokenizer preTokenizer, std::unique_ptr<PieceModel> model,
            AddedTokens raw, AddedTokens normalized, AddedTokens everywhere);
  static absl::StatusOr<std::unique_ptr<Tokenizer>>
  fromImage(std::shared_ptr<const TokenizerImage> image);
  absl::Status encodeText(std::string_view text, const AddedTokens &inRawText,
                          const AddedTokens::Allowed &specialInRawText,
                          bool specialInNormalized,
                          std::vector<TokenId> &out) const;
  absl::Status encodeSpan(Words words, EncodeScratch &scratch,
                          std::vector<TokenId> &out) const;

  std::shared_ptr<const TokenizerImage> image;
  Normalizer normalizer;
  PreTokenizer preTokenizer;
  std::unique_ptr<PieceModel> model;
  /// Searched in raw text, in normalised text; and for chats, where control
  /// tokens must be found before normalising: the raw ones and all control.
  AddedTokens rawTokens, normalizedTokens, segmentTokens;
};

} // namespace quire

#endif
