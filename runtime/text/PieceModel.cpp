#include "runtime/text/PieceModel.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"

namespace quire {

absl::StatusOr<std::unique_ptr<PieceModel>>
PieceModel::create(std::shared_ptr<const TokenizerImage> image) {
  switch (image->settings().model) {
  case PieceModelKind::RankBpe:
    return makeRankBpe(std::move(image));
  case PieceModelKind::ScoreBpe:
    return makeScoreBpe(std::move(image));
  case PieceModelKind::Unigram:
    return makeUnigram(std::move(image));
  }
  return absl::InvalidArgumentError("unknown kind of tokenizer model");
}

bool appendBytePieces(const TokenizerImage &image, std::string_view text,
                      std::vector<TokenId> &out) {
  for (char c : text) {
    if (image.byteId(static_cast<unsigned char>(c)) < 0) {
      return false;
    }
  }
  for (char c : text) {
    out.push_back(image.byteId(static_cast<unsigned char>(c)));
  }
  return true;
}

absl::Status noUnknownPiece(std::string_view text) {
  return absl::InvalidArgumentError(
      strCat("the tokenizer has no piece for \"", printable(text.substr(0, 16)),
             "\" and no unknown token to stand for it"));
}

} // namespace quire
