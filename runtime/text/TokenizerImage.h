// A tokenizer as one block of bytes, the file an engine keeps: pieces, scores,
// merges and ready-made hash tables, so that opening is a mapping, a checksum
// and a bounds check, with nothing built or allocated per piece. Every
// tokenizer, imported or loaded, works on such a block. Immutable; any thread.
//
// Little-endian, sections aligned to eight bytes. Bump `Version` with any
// change of layout; an older file is refused with the advice to recompile.

#ifndef QUIRE_RUNTIME_TEXT_TOKENIZERIMAGE_H
#define QUIRE_RUNTIME_TEXT_TOKENIZERIMAGE_H

#include "frontends/formats/MappedFile.h"
#include "runtime/text/TokenizerData.h"

#include "absl/status/statusor.h"

#include <memory>
#include <optional>
#include <span>

namespace quire {

class TokenizerImage {
public:
  /// Checks and packs imported data.
  static absl::StatusOr<std::shared_ptr<const TokenizerImage>>
  pack(const TokenizerData &data);
  static absl::StatusOr<std::shared_ptr<const TokenizerImage>>
  open(const std::string &path);

  absl::Status save(const std::string &path) const;

  /// TokenizerData without its per-piece arrays.
  const TokenizerData &settings() const { return rules; }
  size_t size() const { return types.size(); }
  std::string_view piece(size_t id) const {
    return pool.substr(offsets[id], offsets[id + 1] - offsets[id]);
  }
  PieceType type(size_t id) const { return static_cast<PieceType>(types[id]); }
  double score(size_t id) const { return scores[id]; }
  /// The model piece with this text, or -1.
  TokenId find(std::string_view text) const;
  struct Merge {
    uint32_t rank, merged;
  };
  std::optional<Merge> findMerge(uint32_t left, uint32_t right) const;
  /// The piece <0xNN>, or -1.
  TokenId byteId(unsigned char byte) const { return byteIds[byte]; }
  /// Added tokens in the order of their texts.
  std::span<const AddedToken> added() const { return addedTokens; }
  /// Model pieces in the order of their texts (Unigram only).
  std::span<const uint32_t> sortedPieces() const { return sorted; }
  size_t longestPiece() const { return longest; }

private:
  TokenizerImage() = default;
  absl::Status bind(std::string_view bytes);
  absl::Status checkBounds();

  std::string owned;                // the bytes, when packed here,
  std::optional<MappedFile> mapped; // or the file they are in
  std::string_view bytes;

  TokenizerData rules;
  std::string_view pool;
  std::span<const uint32_t> offsets;
  std::span<const uint8_t> types;
  std::span<const double> scores;
  std::span<const MergeRule> merges;
  std::span<const uint32_t> pieceTable, mergeTable;
  std::span<const TokenId> byteIds;
  std::span<const AddedToken> addedTokens;
  std::span<const uint32_t> sorted;
  size_t longest = 0;
};

} // namespace quire

#endif
