// Everything that decides how text becomes ids and back, as plain data: what
// the readers (tokenizer.json, tokenizer.model, GGUF) produce and what
// TokenizerImage packs into the one file an engine keeps. It has no behaviour,
// so that a tokenizer loaded from an engine cannot differ from the one that
// was imported. Plain values; whoever holds one owns it.

#ifndef QUIRE_RUNTIME_TEXT_TOKENIZERDATA_H
#define QUIRE_RUNTIME_TEXT_TOKENIZERDATA_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

using TokenId = int32_t;

enum class PieceModelKind : uint8_t {
  RankBpe,  // merges in order of rank over ids (byte-level or characters)
  ScoreBpe, // SentencePiece BPE: join whatever makes the best-scored piece
  Unigram,  // most probable segmentation (Viterbi)
};

/// The numbers are those of SentencePiece and GGUF files.
enum class PieceType : uint8_t {
  Normal = 1,
  Unknown = 2,
  Control = 3,
  UserDefined = 4, // found by the added-token search, never by the model
  Unused = 5,
  Byte = 6,
};

struct MergeRule {
  uint32_t left = 0, right = 0, merged = 0;
};

enum AddedTokenFlags : uint32_t {
  AddedSpecial = 1,     // a control token: found only where that is allowed
  AddedLstrip = 2,      // swallows white space before it
  AddedRstrip = 4,      // swallows white space after it
  AddedSingleWord = 8,  // only between word borders
  AddedNormalized = 16, // searched in normalised, not in raw text
  AddedVerbatim = 32    // ... by its own text, not by its normalised one
};

/// Its text is the piece of its id.
struct AddedToken {
  uint32_t id = 0;
  uint32_t flags = 0;
};

enum class NormalizerKind : uint8_t {
  Nfc,
  Nfd,
  Nfkc,
  Nfkd,
  Lowercase,
  StripAccents,
  Strip,       // flags: StepLeft, StepRight
  Prepend,     // content, unless the text is empty
  Replace,     // pattern (a regex with StepRegex) by content
  Precompiled, // pattern: a SentencePiece character map. StepGraphemes: one
               // lookup a grapheme (Hugging Face), else longest prefix
};

enum class PreTokenizerKind : uint8_t {
  Split,     // pattern, behaviour, StepInvert
  Metaspace, // content: the mark for a space; StepSplit, StepPrefix*
  ByteLevel, // StepPrefix: a space in front; StepRegex: GPT-2's pattern too
};

enum class SplitBehavior : uint8_t {
  Isolated,
  Removed,
  MergedWithPrevious,
  MergedWithNext,
  Contiguous,
};

enum StepFlags : uint32_t {
  StepRegex = 1,
  StepInvert = 2,
  StepLeft = 4,
  StepRight = 8,
  StepPrefix = 16,
  StepPrefixFirst = 32, // only at the very start of the input
  StepSplit = 64,
  StepGraphemes = 128,
};

/// One step of either chain; `kind` is the chain's own enum.
struct TextStep {
  uint8_t kind = 0;
  SplitBehavior behavior = SplitBehavior::Isolated;
  uint32_t flags = 0;
  std::string pattern, content;
};

/// How pieces become text, in the order of these fields.
struct DecoderRules {
  std::vector<std::pair<std::string, std::string>> replace; // in each piece
  bool byteFallback = false;    // <0xNN> pieces are bytes
  std::string stripFirstPiece;  // mark removed wherever the first piece has it
  std::string stripStart;       // removed from the start of the text ...
  uint32_t stripStartCount = 0; // ... at most so often
};

/// The pieces, packed: no allocation per piece.
struct PieceList {
  std::string pool;
  std::vector<uint32_t> offsets{0};

  size_t size() const { return offsets.size() - 1; }
  std::string_view operator[](size_t id) const {
    return std::string_view(pool).substr(offsets[id],
                                         offsets[id + 1] - offsets[id]);
  }
  void push(std::string_view text) {
    pool += text;
    offsets.push_back(static_cast<uint32_t>(pool.size()));
  }
};

struct TokenizerData {
  PieceModelKind model = PieceModelKind::RankBpe;
  bool byteLevel = false;    // pieces are raw bytes and the unit is the byte
  bool byteFallback = false; // unknown characters become byte pieces
  /// A text that spells a byte piece ("<0x41>") is that piece: Hugging Face's
  /// Unigram does this, SentencePiece does not.
  bool bytePiecesInText = false;
  /// Probabilities are summed as floats (SentencePiece), not as doubles
  /// (Hugging Face); it decides near ties.
  bool floatScores = false;
  bool fuseUnknown = false;
  bool ignoreMerges = false; // a word that is a piece needs no merges
  /// UserDefined and Control pieces keep their text; with byteLevel the others
  /// hold the bytes they stand for.
  PieceList pieces;
  std::vector<PieceType> types;  // one a piece
  std::vector<double> scores;    // one a piece; empty for RankBpe
  std::vector<MergeRule> merges; // by rank; RankBpe only
  std::vector<AddedToken> added;
  std::vector<TextStep> normalizer, preTokenizer;
  DecoderRules decoder;
  std::vector<TokenId> prefixIds, suffixIds; // written by addSpecial
  TokenId bosId = -1, unknownId = -1, padId = -1;
  std::vector<TokenId> endIds; // every declared end of text or of turn

  /// The model joins and finds only such pieces; control text typed by a user
  /// must never come out as a control id.
  bool isModelPiece(PieceType type) const {
    return type == PieceType::Normal || type == PieceType::Unused ||
           (type == PieceType::Byte && bytePiecesInText);
  }
};

} // namespace quire

#endif
