#include "runtime/text/Tokenizer.h"
#include "frontends/formats/Utf8.h"
#include "runtime/text/IncrementalDecoder.h"
#include "runtime/text/PieceText.h"
#include "runtime/text/Utf8.h"

#include <algorithm>

namespace quire {

Tokenizer::Tokenizer(std::shared_ptr<const TokenizerImage> image,
                     Normalizer normalizer, PreTokenizer preTokenizer,
                     std::unique_ptr<PieceModel> model, AddedTokens raw,
                     AddedTokens normalized, AddedTokens everywhere)
    : image(std::move(image)), normalizer(std::move(normalizer)),
      preTokenizer(std::move(preTokenizer)), model(std::move(model)),
      rawTokens(std::move(raw)), normalizedTokens(std::move(normalized)),
      segmentTokens(std::move(everywhere)) {}

absl::StatusOr<std::unique_ptr<Tokenizer>>
Tokenizer::fromImage(std::shared_ptr<const TokenizerImage> image) {
  const TokenizerData &rules = image->settings();
  auto normalizer = Normalizer::create(rules.normalizer);
  if (!normalizer.ok()) {
    return normalizer.status();
  }
  auto preTokenizer = PreTokenizer::create(rules.preTokenizer);
  if (!preTokenizer.ok()) {
    return preTokenizer.status();
  }
  auto model = PieceModel::create(image);
  if (!model.ok()) {
    return model.status();
  }
  std::vector<AddedTokens::Entry> raw, normalized, everywhere;
  for (const AddedToken &token : image->added()) {
    std::string text(image->piece(token.id));
    bool inNormalized = token.flags & AddedNormalized;
    if (!inNormalized || (token.flags & AddedSpecial)) {
      everywhere.push_back({text, token});
    }
    if (inNormalized && (token.flags & AddedVerbatim)) {
      normalized.push_back({std::move(text), token});
    } else if (inNormalized) {
      absl::StatusOr<std::string> form = normalizer->apply(std::move(text));
      if (!form.ok()) {
        return form.status();
      }
      normalized.push_back({std::move(*form), token});
    } else {
      raw.push_back({std::move(text), token});
    }
  }
  return std::unique_ptr<Tokenizer>(new Tokenizer(
      std::move(image), std::move(*normalizer), std::move(*preTokenizer),
      std::move(*model), AddedTokens(std::move(raw)),
      AddedTokens(std::move(normalized)), AddedTokens(std::move(everywhere))));
}

absl::StatusOr<std::unique_ptr<Tokenizer>>
Tokenizer::fromData(const TokenizerData &data) {
  auto image = TokenizerImage::pack(data);
  if (!image.ok()) {
    return image.status();
  }
  return fromImage(std::move(*image));
}

absl::StatusOr<std::unique_ptr<Tokenizer>>
Tokenizer::load(const std::string &path) {
  auto image = TokenizerImage::open(path);
  if (!image.ok()) {
    return image.status();
  }
  return fromImage(std::move(*image));
}

absl::Status Tokenizer::save(const std::string &path) const {
  return image->save(path);
}

absl::Status Tokenizer::encodeSpan(Words words, EncodeScratch &scratch,
                                   std::vector<TokenId> &out) const {
  if (absl::Status status = preTokenizer.apply(words); !status.ok()) {
    return status;
  }
  for (const TextRange &range : words.ranges) {
    absl::Status status =
        model->encode(std::string_view(words.text)
                          .substr(range.begin, range.end - range.begin),
                      scratch, out);
    if (!status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status Tokenizer::encodeText(std::string_view text,
                                   const AddedTokens &inRawText,
                                   const AddedTokens::Allowed &specialInRawText,
                                   bool specialInNormalized,
                                   std::vector<TokenId> &out) const {
  EncodeScratch scratch;
  auto allowed = [&](size_t, size_t) { return specialInNormalized; };
  for (const TextSpan &span : inRawText.partition(text, specialInRawText)) {
    if (span.id >= 0) {
      out.push_back(span.id);
      continue;
    }
    absl::StatusOr<std::string> normal = normalizer.apply(
        std::string(text.substr(span.begin, span.end - span.begin)));
    if (!normal.ok()) {
      return normal.status();
    }
    for (const TextSpan &part : normalizedTokens.partition(*normal, allowed)) {
      if (part.id >= 0) {
        out.push_back(part.id);
        continue;
      }
      Words words;
      words.text = normal->substr(part.begin, part.end - part.begin);
      words.atStart = span.begin == 0 && part.begin == 0;
      absl::Status status = encodeSpan(std::move(words), scratch, out);
      if (!status.ok()) {
        return status;
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TokenId>>
Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  std::string mended;
  if (!isValidUtf8(text)) {
    appendLossyUtf8(mended, text);
    text = mended;
  }
  const TokenizerData &rules = image->settings();
  std::vector<TokenId> ids;
  if (options.addSpecial) {
    ids = rules.prefixIds;
  }
  absl::Status status = encodeText(
      text, rawTokens, [&](size_t, size_t) { return options.parseSpecial; },
      options.parseSpecial, ids);
  if (!status.ok()) {
    return status;
  }
  if (options.addSpecial) {
    ids.insert(ids.end(), rules.suffixIds.begin(), rules.suffixIds.end());
  }
  return ids;
}

absl::StatusOr<std::vector<TokenId>>
Tokenizer::encodeSegments(std::span<const TextSegment> segments,
                          bool addSpecial) const {
  std::string text;
  std::vector<TextSpan> open; // stretches the template wrote, neighbours joined
  for (const TextSegment &segment : segments) {
    size_t begin = text.size();
    appendLossyUtf8(text, segment.text);
    if (!segment.isTemplate || begin == text.size()) {
      continue;
    }
    if (!open.empty() && open.back().end == begin) {
      open.back().end = text.size();
    } else {
      open.push_back({begin, text.size(), -1});
    }
  }
  auto allowed = [&](size_t begin, size_t end) {
    auto after = std::upper_bound(
        open.begin(), open.end(), begin,
        [](size_t at, const TextSpan &span) { return at < span.begin; });
    return after != open.begin() && end <= std::prev(after)->end;
  };
  std::vector<TokenId> ids;
  absl::Status status = encodeText(text, segmentTokens, allowed,
                                   /*specialInNormalized=*/false, ids);
  if (!status.ok()) {
    return status;
  }
  const std::vector<TokenId> &prefix = image->settings().prefixIds;
  if (addSpecial && !(ids.size() >= prefix.size() &&
                      std::equal(prefix.begin(), prefix.end(), ids.begin()))) {
    ids.insert(ids.begin(), prefix.begin(), prefix.end());
  }
  return ids;
}

std::string Tokenizer::decode(std::span<const TokenId> ids,
                              DecodeOptions options) const {
  IncrementalDecoder decoder(*this, options);
  std::string text;
  for (TokenId id : ids) {
    text += decoder.push(id);
  }
  text += decoder.finish();
  return text;
}

std::string_view Tokenizer::piece(TokenId id) const {
  return id >= 0 && static_cast<size_t>(id) < image->size() ? image->piece(id)
                                                            : "";
}

bool Tokenizer::isSpecial(TokenId id) const {
  if (id < 0 || static_cast<size_t>(id) >= image->size()) {
    return false;
  }
  PieceType type = image->type(id);
  return type == PieceType::Control || type == PieceType::Unknown;
}

TokenId Tokenizer::idOf(std::string_view text) const {
  auto added = image->added();
  auto at = std::lower_bound(added.begin(), added.end(), text,
                             [&](const AddedToken &token, std::string_view t) {
                               return image->piece(token.id) < t;
                             });
  if (at != added.end() && image->piece(at->id) == text) {
    return static_cast<TokenId>(at->id);
  }
  return image->find(text);
}

bool Tokenizer::isEnd(TokenId id) const {
  return std::ranges::find(endIds(), id) != endIds().end();
}

bool Tokenizer::addsBos() const {
  return bosId() >= 0 &&
         std::ranges::find(image->settings().prefixIds, bosId()) !=
             image->settings().prefixIds.end();
}

std::string Tokenizer::pieceBytes(TokenId id, bool first) const {
  std::string text(piece(id));
  if (text.empty() || isSpecial(id)) {
    return text;
  }
  const DecoderRules &rules = image->settings().decoder;
  if (rules.byteFallback && image->type(id) == PieceType::Byte) {
    if (std::optional<unsigned char> byte = parseBytePiece(text)) {
      return std::string(1, static_cast<char>(*byte));
    }
  }
  if (first && !rules.stripFirstPiece.empty()) {
    text = replaceAll(text, rules.stripFirstPiece, "");
  }
  for (const auto &[from, to] : rules.replace) {
    text = replaceAll(text, from, to);
  }
  return text;
}

} // namespace quire
