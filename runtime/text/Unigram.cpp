// Unigram segmentation (Kudo 2018): the sequence of pieces with the highest sum
// of log probabilities, by Viterbi over the word's characters. A character
// without a piece of its own costs ten more than the least likely piece.

#include "runtime/text/PieceModel.h"
#include "runtime/text/PrefixIndex.h"
#include "runtime/text/Utf8.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quire {

namespace {

struct PieceTextAt {
  const TokenizerImage *image;
  std::string_view operator()(size_t i) const {
    return image->piece(image->sortedPieces()[i]);
  }
};

/// The best way to reach a byte position.
struct Arrival {
  double score = 0;
  int64_t from = -1; // -1: not reached
  TokenId id = -1;   // -1: an unknown character
};

class Unigram : public PieceModel {
public:
  explicit Unigram(std::shared_ptr<const TokenizerImage> shared)
      : image(std::move(shared)), rules(image->settings()),
        index(image->sortedPieces().size(), PieceTextAt{image.get()}) {
    double lowest = std::numeric_limits<double>::infinity();
    for (size_t id = 0; id < image->size(); ++id) {
      if (rules.isModelPiece(image->type(id)) ||
          image->type(id) == PieceType::Byte) {
        lowest = std::min(lowest, image->score(id));
      }
    }
    unknownScore = (std::isfinite(lowest) ? lowest : 0) - 10.0;
    if (rules.floatScores) {
      unknownScore = static_cast<float>(unknownScore);
    }
  }

  absl::Status encode(std::string_view word, EncodeScratch &,
                      std::vector<TokenId> &out) const override {
    std::vector<Arrival> best(word.size() + 1);
    best[0].from = 0;
    auto reach = [&](size_t to, Arrival arrival) {
      if (rules.floatScores) {
        arrival.score = static_cast<float>(arrival.score);
      }
      if (best[to].from < 0 || arrival.score > best[to].score) {
        best[to] = arrival;
      }
    };
    for (size_t at = 0; at < word.size();) {
      size_t unit = rules.byteLevel ? 1 : utf8Length(word[at]);
      double score = best[at].score;
      auto from = static_cast<int64_t>(at);
      bool single = false;
      index.forEachPrefix(word.substr(at), [&](size_t found) {
        uint32_t id = image->sortedPieces()[found];
        size_t length = image->piece(id).size();
        single |= length == unit;
        reach(at + length,
              {score + image->score(id), from, static_cast<TokenId>(id)});
      });
      if (!single) {
        reach(at + unit, {score + unknownScore, from, -1});
      }
      at += unit;
    }
    return emit(word, best, out);
  }

private:
  std::shared_ptr<const TokenizerImage> image;
  const TokenizerData &rules;
  PrefixIndex<PieceTextAt> index;
  double unknownScore;

  absl::Status emit(std::string_view word, const std::vector<Arrival> &best,
                    std::vector<TokenId> &out) const {
    std::vector<size_t> ends;
    for (size_t at = word.size(); at > 0;
         at = static_cast<size_t>(best[at].from)) {
      ends.push_back(at);
    }
    std::reverse(ends.begin(), ends.end());
    for (size_t i = 0; i < ends.size(); ++i) {
      const Arrival &arrival = best[ends[i]];
      if (arrival.id >= 0) {
        out.push_back(arrival.id);
        continue;
      }
      while (rules.fuseUnknown && i + 1 < ends.size() &&
             best[ends[i + 1]].id < 0) {
        ++i;
      }
      auto begin = static_cast<size_t>(arrival.from);
      std::string_view text = word.substr(begin, ends[i] - begin);
      if (rules.byteFallback && appendBytePieces(*image, text, out)) {
        continue;
      }
      if (rules.unknownId < 0) {
        return noUnknownPiece(text);
      }
      out.push_back(rules.unknownId);
    }
    return absl::OkStatus();
  }
};

} // namespace

std::unique_ptr<PieceModel>
makeUnigram(std::shared_ptr<const TokenizerImage> image) {
  return std::make_unique<Unigram>(std::move(image));
}

} // namespace quire
