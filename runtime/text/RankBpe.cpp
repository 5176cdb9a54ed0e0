// Byte-pair encoding by rank (Sennrich et al. 2016, as Hugging Face and GPT-2
// apply it): of all neighbouring pairs that have a merge rule, the one with the
// lowest rank is joined first, the leftmost of equals, until none is left.

#include "runtime/text/PieceModel.h"
#include "runtime/text/Utf8.h"

#include <algorithm>
#include <array>
#include <functional>

namespace quire {

namespace {

class RankBpe : public PieceModel {
public:
  explicit RankBpe(std::shared_ptr<const TokenizerImage> shared)
      : image(std::move(shared)), rules(image->settings()) {
    for (size_t byte = 0; byte < 256; ++byte) {
      char c = static_cast<char>(byte);
      byteUnits[byte] = image->find({&c, 1});
    }
  }

  absl::Status encode(std::string_view word, EncodeScratch &scratch,
                      std::vector<TokenId> &out) const override {
    if (rules.ignoreMerges) {
      if (TokenId id = image->find(word); id >= 0) {
        out.push_back(id);
        return absl::OkStatus();
      }
    }
    scratch.symbols.clear();
    if (!start(word, scratch.symbols)) {
      return noUnknownPiece(word);
    }
    if (scratch.symbols.size() <= ShortWord) {
      mergeShort(scratch.symbols);
    } else {
      mergeLong(scratch);
    }
    for (const Symbol &symbol : scratch.symbols) {
      if (symbol.bytes != 0) {
        out.push_back(symbol.id);
      }
    }
    return absl::OkStatus();
  }

private:
  // Below this many symbols scanning all pairs again after each merge is
  // faster than keeping a heap.
  static constexpr size_t ShortWord = 24;
  static constexpr uint32_t NoRank = UINT32_MAX;

  std::shared_ptr<const TokenizerImage> image;
  const TokenizerData &rules;
  std::array<TokenId, 256> byteUnits;

  static void push(std::vector<Symbol> &symbols, TokenId id) {
    auto at = static_cast<int32_t>(symbols.size());
    symbols.push_back({at - 1, at + 1, 0, 1, id});
  }

  /// The word's units as symbols. Unknown ones become the unknown piece, a
  /// run of them one piece with fuseUnknown, or vanish where there is no
  /// such piece (as in the reference).
  bool start(std::string_view word, std::vector<Symbol> &symbols) const {
    bool unknownPending = false;
    std::vector<TokenId> bytePieces;
    while (!word.empty()) {
      size_t length = rules.byteLevel ? 1 : utf8Length(word[0]);
      std::string_view unit = word.substr(0, length);
      word.remove_prefix(length);
      TokenId id = length == 1 ? byteUnits[static_cast<unsigned char>(unit[0])]
                               : image->find(unit);
      bytePieces.clear();
      if (id >= 0) {
        if (unknownPending) {
          push(symbols, rules.unknownId);
          unknownPending = false;
        }
        push(symbols, id);
      } else if (rules.byteFallback &&
                 appendBytePieces(*image, unit, bytePieces)) {
        for (TokenId piece : bytePieces) {
          push(symbols, piece);
        }
      } else if (rules.unknownId >= 0) {
        if (unknownPending && !rules.fuseUnknown) {
          push(symbols, rules.unknownId);
        }
        unknownPending = true;
      }
    }
    if (unknownPending) {
      push(symbols, rules.unknownId);
    }
    if (!symbols.empty()) {
      symbols.back().next = -1;
    }
    return symbols.size() < INT32_MAX;
  }

  std::optional<TokenizerImage::Merge>
  pairAt(const std::vector<Symbol> &symbols, int32_t at) const {
    if (at < 0 || symbols[at].next < 0) {
      return std::nullopt;
    }
    return image->findMerge(symbols[at].id, symbols[symbols[at].next].id);
  }

  static void join(std::vector<Symbol> &symbols, int32_t at, uint32_t merged) {
    Symbol &left = symbols[at];
    Symbol &right = symbols[left.next];
    left.id = static_cast<TokenId>(merged);
    right.bytes = 0;
    left.next = right.next;
    if (left.next >= 0) {
      symbols[left.next].previous = at;
    }
  }

  void mergeShort(std::vector<Symbol> &symbols) const {
    std::array<TokenizerImage::Merge, ShortWord> pairs;
    auto refresh = [&](int32_t at) {
      if (at >= 0) {
        pairs[at] =
            pairAt(symbols, at).value_or(TokenizerImage::Merge{NoRank, 0});
      }
    };
    for (size_t at = 0; at < symbols.size(); ++at) {
      refresh(static_cast<int32_t>(at));
    }
    while (true) {
      int32_t best = -1;
      uint32_t rank = NoRank;
      for (int32_t at = symbols.empty() ? -1 : 0; at >= 0;
           at = symbols[at].next) {
        if (pairs[at].rank < rank) {
          rank = pairs[at].rank;
          best = at;
        }
      }
      if (best < 0) {
        return;
      }
      join(symbols, best, pairs[best].merged);
      refresh(best);
      refresh(symbols[best].previous);
    }
  }

  /// The heap holds rank << 32 | position; an entry whose pair has changed
  /// since shows another rank when looked up again, and is dropped.
  void mergeLong(EncodeScratch &scratch) const {
    std::vector<Symbol> &symbols = scratch.symbols;
    std::vector<uint64_t> &heap = scratch.heap;
    heap.clear();
    auto entry = [&](int32_t at) -> std::optional<uint64_t> {
      if (auto merge = pairAt(symbols, at)) {
        return uint64_t{merge->rank} << 32 | static_cast<uint32_t>(at);
      }
      return std::nullopt;
    };
    auto push = [&](int32_t at) {
      if (auto value = entry(at)) {
        heap.push_back(*value);
        std::push_heap(heap.begin(), heap.end(), std::greater<>());
      }
    };
    for (size_t at = 0; at < symbols.size(); ++at) {
      if (auto value = entry(static_cast<int32_t>(at))) {
        heap.push_back(*value);
      }
    }
    std::make_heap(heap.begin(), heap.end(), std::greater<>());
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), std::greater<>());
      uint64_t top = heap.back();
      heap.pop_back();
      auto at = static_cast<int32_t>(top & 0xFFFFFFFFu);
      if (symbols[at].bytes == 0) {
        continue;
      }
      auto merge = pairAt(symbols, at);
      if (!merge || merge->rank != top >> 32) {
        continue;
      }
      join(symbols, at, merge->merged);
      push(symbols[at].previous);
      push(at);
    }
  }
};

} // namespace

std::unique_ptr<PieceModel>
makeRankBpe(std::shared_ptr<const TokenizerImage> image) {
  return std::make_unique<RankBpe>(std::move(image));
}

} // namespace quire
