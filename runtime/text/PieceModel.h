// What turns one word (raw bytes or characters, already normalised) into ids:
// rank BPE, SentencePiece's score BPE, or Unigram. All take time O(n log n) in
// the word, because without a pre-tokenizer the word is the whole text.
// Immutable; any thread, each with its own scratch space.

#ifndef QUIRE_RUNTIME_TEXT_PIECEMODEL_H
#define QUIRE_RUNTIME_TEXT_PIECEMODEL_H

#include "runtime/text/TokenizerImage.h"

#include <memory>

namespace quire {

/// A piece in the making: a node of the word's linked list.
struct Symbol {
  int32_t previous, next; // -1 at the ends
  uint32_t begin, bytes;  // bytes 0: swallowed by its left neighbour
  TokenId id;             // -1: no piece yet (score BPE only)
};

/// Buffers that live through one encode call.
struct EncodeScratch {
  std::vector<Symbol> symbols;
  std::vector<uint64_t> heap;
};

class PieceModel {
public:
  virtual ~PieceModel() = default;
  /// Appends the word's ids. Fails only where the vocabulary has no way to
  /// write a character.
  virtual absl::Status encode(std::string_view word, EncodeScratch &scratch,
                              std::vector<TokenId> &out) const = 0;

  static absl::StatusOr<std::unique_ptr<PieceModel>>
  create(std::shared_ptr<const TokenizerImage> image);
};

std::unique_ptr<PieceModel>
makeRankBpe(std::shared_ptr<const TokenizerImage> image);
std::unique_ptr<PieceModel>
makeScoreBpe(std::shared_ptr<const TokenizerImage> image);
std::unique_ptr<PieceModel>
makeUnigram(std::shared_ptr<const TokenizerImage> image);

/// Appends the byte pieces of `text`; false, and nothing appended, when the
/// vocabulary lacks one of them.
bool appendBytePieces(const TokenizerImage &image, std::string_view text,
                      std::vector<TokenId> &out);
absl::Status noUnknownPiece(std::string_view text);

} // namespace quire

#endif
