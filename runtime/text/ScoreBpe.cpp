// SentencePiece's BPE (Kudo and Richardson 2018): neighbours are joined when
// their text together is a piece, the best-scored piece first, the leftmost of
// equals. Pieces marked unused may help on the way but are taken apart again.

#include "runtime/text/PieceModel.h"
#include "runtime/text/Utf8.h"

#include <algorithm>
#include <unordered_map>

namespace quire {

namespace {

/// A pair of neighbours that would make a piece.
struct Candidate {
  float score;
  int32_t left, right;
  uint32_t bytes; // of the pair when it was found: differs once stale

  bool operator<(const Candidate &other) const {
    return score != other.score ? score < other.score : left > other.left;
  }
};

using Halves = std::unordered_map<TokenId, std::pair<uint32_t, uint32_t>>;

class ScoreBpe : public PieceModel {
public:
  explicit ScoreBpe(std::shared_ptr<const TokenizerImage> shared)
      : image(std::move(shared)), rules(image->settings()) {}

  absl::Status encode(std::string_view word, EncodeScratch &scratch,
                      std::vector<TokenId> &out) const override {
    std::vector<Symbol> &symbols = scratch.symbols;
    symbols.clear();
    for (size_t at = 0; at < word.size();) {
      auto bytes = std::min(utf8Length(word[at]), word.size() - at);
      auto index = static_cast<int32_t>(symbols.size());
      symbols.push_back({index - 1, index + 1, static_cast<uint32_t>(at),
                         static_cast<uint32_t>(bytes),
                         image->find(word.substr(at, bytes))});
      at += bytes;
    }
    if (symbols.empty()) {
      return absl::OkStatus();
    }
    symbols.back().next = -1;
    Halves halves;
    merge(word, symbols, halves);
    bool unknownBefore = false;
    for (const Symbol &symbol : symbols) {
      if (symbol.bytes == 0) {
        continue;
      }
      std::string_view text = word.substr(symbol.begin, symbol.bytes);
      absl::Status status = emit(text, symbol.id, halves, unknownBefore, out);
      if (!status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

private:
  std::shared_ptr<const TokenizerImage> image;
  const TokenizerData &rules;

  void merge(std::string_view word, std::vector<Symbol> &symbols,
             Halves &halves) const {
    std::vector<Candidate> heap;
    auto candidate = [&](int32_t left) -> std::optional<Candidate> {
      int32_t right = left < 0 ? -1 : symbols[left].next;
      if (right < 0) {
        return std::nullopt;
      }
      uint32_t bytes = symbols[left].bytes + symbols[right].bytes;
      if (bytes > image->longestPiece()) {
        return std::nullopt;
      }
      TokenId id = image->find(word.substr(symbols[left].begin, bytes));
      if (id < 0) {
        return std::nullopt;
      }
      if (image->type(id) == PieceType::Unused) {
        halves[id] = {symbols[left].bytes, symbols[right].bytes};
      }
      return Candidate{static_cast<float>(image->score(id)), left, right,
                       bytes};
    };
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      if (auto found = candidate(static_cast<int32_t>(i))) {
        heap.push_back(*found);
      }
    }
    std::make_heap(heap.begin(), heap.end());
    auto push = [&](int32_t left) {
      if (auto found = candidate(left)) {
        heap.push_back(*found);
        std::push_heap(heap.begin(), heap.end());
      }
    };
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end());
      Candidate top = heap.back();
      heap.pop_back();
      Symbol &left = symbols[top.left];
      Symbol &right = symbols[top.right];
      if (left.bytes == 0 || right.bytes == 0 ||
          left.bytes + right.bytes != top.bytes) {
        continue;
      }
      left.bytes = top.bytes;
      left.id = image->find(word.substr(left.begin, top.bytes));
      right.bytes = 0;
      left.next = right.next;
      if (left.next >= 0) {
        symbols[left.next].previous = top.left;
      }
      push(left.previous);
      push(top.left);
    }
  }

  absl::Status emit(std::string_view text, TokenId id, const Halves &halves,
                    bool &unknownBefore, std::vector<TokenId> &out) const {
    if (id >= 0 && image->type(id) == PieceType::Unused) {
      if (auto found = halves.find(id); found != halves.end()) {
        for (std::string_view half : {text.substr(0, found->second.first),
                                      text.substr(found->second.first)}) {
          absl::Status status =
              emit(half, image->find(half), halves, unknownBefore, out);
          if (!status.ok()) {
            return status;
          }
        }
        return absl::OkStatus();
      }
    }
    if (id >= 0) {
      out.push_back(id);
      unknownBefore = false;
      return absl::OkStatus();
    }
    if (rules.byteFallback && appendBytePieces(*image, text, out)) {
      unknownBefore = false;
      return absl::OkStatus();
    }
    if (rules.unknownId < 0) {
      return noUnknownPiece(text);
    }
    if (!unknownBefore || !rules.fuseUnknown) {
      out.push_back(rules.unknownId);
    }
    unknownBefore = true;
    return absl::OkStatus();
  }
};

} // namespace

std::unique_ptr<PieceModel>
makeScoreBpe(std::shared_ptr<const TokenizerImage> image) {
  return std::make_unique<ScoreBpe>(std::move(image));
}

} // namespace quire
