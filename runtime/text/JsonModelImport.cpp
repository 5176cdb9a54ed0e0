// "model" and "added_tokens" of a tokenizer.json: pieces, merges, scores.

#include "frontends/formats/Json.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "runtime/text/Importers.h"
#include "runtime/text/PieceText.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace quire {

using nlohmann::json;

namespace {

/// A score as the reference reads it: its JSON parser multiplies digits by a
/// power of ten, which can miss the nearest double by one unit, and that
/// decides between segmentations of equal probability.
double referenceScore(double exact) {
  std::string text = json(exact).dump(); // the shortest digits, as in the file
  uint64_t digits = 0;
  int exponent = 0;
  bool point = false, negative = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '-') {
      negative = true;
    } else if (c == '.') {
      point = true;
    } else if (c >= '0' && c <= '9' && digits < UINT64_MAX / 10 - 9) {
      digits = digits * 10 + static_cast<uint64_t>(c - '0');
      exponent -= point;
    } else { // an exponent of its own: far from any score's size
      return exact;
    }
  }
  double value = static_cast<double>(digits) / std::pow(10.0, -exponent);
  return negative ? -value : value;
}

/// The pieces under the texts that the file gives them.
class JsonModel {
public:
  JsonModel(const json &document, TokenizerData &data)
      : document(document), data(data) {}

  absl::Status read() {
    auto found = getObject(document, "model");
    if (!found.ok()) {
      return found.status();
    }
    model = *found;
    std::string kind = model->value("type", json("BPE")).is_string()
                           ? model->value("type", std::string("BPE"))
                           : "?";
    absl::Status status;
    if (kind == "BPE") {
      status = readBpePieces();
    } else if (kind == "Unigram") {
      status = readUnigramPieces();
    } else {
      status = absl::UnimplementedError(
          strCat("its model is of type \"", printable(kind),
                 "\"; known are BPE and Unigram"));
    }
    if (status.ok()) {
      status = readAdded();
    }
    if (status.ok()) {
      store();
      status = kind == "BPE" ? readMerges() : absl::OkStatus();
    }
    return status;
  }

private:
  const json &document;
  TokenizerData &data;
  const json *model = nullptr;
  std::vector<std::string_view> texts; // by id; null where there is none
  std::vector<PieceType> types;
  std::unordered_map<std::string_view, uint32_t> ids;

  absl::Status addPiece(std::string_view text, int64_t id, PieceType type) {
    // Some vocabularies leave gaps; a far-off id is a damaged file.
    constexpr int64_t LargestGap = 1 << 20;
    if (id < 0 || id > static_cast<int64_t>(texts.size()) + LargestGap) {
      return absl::InvalidArgumentError(
          strCat("token \"", printable(text), "\" has the id ", id,
                 ", which does not fit the vocabulary"));
    }
    auto at = static_cast<size_t>(id);
    if (at >= texts.size()) {
      texts.resize(at + 1);
      types.resize(at + 1, PieceType::Unused);
    }
    texts[at] = text;
    types[at] = type;
    ids[text] = static_cast<uint32_t>(at);
    return absl::OkStatus();
  }

  absl::StatusOr<bool> flag(const char *name) {
    auto value = findBool(*model, name);
    if (!value.ok()) {
      return value.status();
    }
    return value->value_or(false);
  }

  /// Options that change ids and that no model in the field needs.
  absl::Status refuseOptions() {
    for (const char *name :
         {"continuing_subword_prefix", "end_of_word_suffix"}) {
      auto text = findString(*model, name);
      if (!text.ok()) {
        return text.status();
      }
      if (*text && !(*text)->empty()) {
        return absl::UnimplementedError(
            strCat("its model uses ", name, ", which is not supported"));
      }
    }
    auto dropout = findFloat(*model, "dropout");
    if (!dropout.ok()) {
      return dropout.status();
    }
    if (dropout->value_or(0) != 0) {
      return absl::UnimplementedError(
          "its model uses dropout, which makes ids random; set it to null");
    }
    return absl::OkStatus();
  }

  absl::Status readBpePieces() {
    data.model = PieceModelKind::RankBpe;
    if (absl::Status status = refuseOptions(); !status.ok()) {
      return status;
    }
    auto vocab = getObject(*model, "vocab");
    auto byteFallback = flag("byte_fallback"), fuse = flag("fuse_unk"),
         ignore = flag("ignore_merges");
    for (const absl::Status &status : {vocab.status(), byteFallback.status(),
                                       fuse.status(), ignore.status()}) {
      if (!status.ok()) {
        return status;
      }
    }
    data.byteFallback = *byteFallback;
    data.fuseUnknown = *fuse;
    data.ignoreMerges = *ignore;
    // Ids come in the order of the texts, not their own: make room first.
    texts.resize((*vocab)->size());
    types.resize(texts.size(), PieceType::Unused);
    for (const auto &[text, id] : (*vocab)->items()) {
      if (!id.is_number_integer()) {
        return absl::InvalidArgumentError(
            strCat("token \"", printable(text), "\" has no number for an id"));
      }
    }
    for (auto at = (*vocab)->begin(); at != (*vocab)->end(); ++at) {
      absl::Status status =
          addPiece(at.key(), at.value().get<int64_t>(), PieceType::Normal);
      if (!status.ok()) {
        return status;
      }
    }
    auto unknown = findString(*model, "unk_token");
    if (!unknown.ok()) {
      return unknown.status();
    }
    if (*unknown && ids.contains(**unknown)) {
      return setUnknown(ids[**unknown]);
    }
    return absl::OkStatus();
  }

  absl::Status setUnknown(int64_t id) {
    if (id < 0 || id >= static_cast<int64_t>(texts.size())) {
      return absl::InvalidArgumentError(
          strCat("its unknown token has the id ", id,
                 ", which is not in the vocabulary"));
    }
    data.unknownId = static_cast<TokenId>(id);
    types[static_cast<size_t>(id)] = PieceType::Unknown;
    return absl::OkStatus();
  }

  absl::Status readUnigramPieces() {
    data.model = PieceModelKind::Unigram;
    auto vocab = getArray(*model, "vocab");
    auto byteFallback = flag("byte_fallback");
    auto unknown = findInt(*model, "unk_id");
    for (const absl::Status &status :
         {vocab.status(), byteFallback.status(), unknown.status()}) {
      if (!status.ok()) {
        return status;
      }
    }
    data.byteFallback = data.bytePiecesInText = *byteFallback;
    data.fuseUnknown = true;
    int64_t id = 0;
    for (const json &entry : **vocab) {
      if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() ||
          !entry[1].is_number()) {
        return absl::InvalidArgumentError(
            strCat("vocabulary entry ", id, " is not [\"piece\", score]"));
      }
      data.scores.push_back(referenceScore(entry[1].get<double>()));
      absl::Status status = addPiece(entry[0].get_ref<const std::string &>(),
                                     id++, PieceType::Normal);
      if (!status.ok()) {
        return status;
      }
    }
    return *unknown ? setUnknown(**unknown) : absl::OkStatus();
  }

  absl::Status readAdded() {
    auto list = findArray(document, "added_tokens");
    if (!list.ok() || !*list) {
      return list.status();
    }
    for (const json &entry : **list) {
      auto id = getInt(entry, "id");
      auto content = findString(entry, "content");
      for (const absl::Status &status : {id.status(), content.status()}) {
        if (!status.ok()) {
          return status;
        }
      }
      if (!*content || (*content)->empty()) {
        return absl::InvalidArgumentError("an added token has no content");
      }
      uint32_t flags = 0;
      for (auto [name, bit] : {std::pair{"special", AddedSpecial},
                               {"lstrip", AddedLstrip},
                               {"rstrip", AddedRstrip},
                               {"single_word", AddedSingleWord},
                               {"normalized", AddedNormalized}}) {
        auto value = findBool(entry, name);
        if (!value.ok()) {
          return value.status();
        }
        // A token is normalised unless it is special or says otherwise.
        bool fallback = bit == AddedNormalized && !(flags & AddedSpecial);
        flags |= value->value_or(fallback) ? bit : 0;
      }
      absl::Status status =
          addAdded(entry["content"].get_ref<const std::string &>(), *id, flags);
      if (!status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

  absl::Status addAdded(std::string_view text, int64_t id, uint32_t flags) {
    auto known = ids.find(text);
    bool inModel = known != ids.end() && known->second == id;
    if (!inModel) {
      absl::Status status = addPiece(text, id, PieceType::UserDefined);
      if (!status.ok()) {
        return status;
      }
    }
    auto at = static_cast<size_t>(id);
    if (flags & AddedSpecial) {
      types[at] = types[at] == PieceType::Unknown ? PieceType::Unknown
                                                  : PieceType::Control;
    } else if (data.byteLevel && inModel && fromByteAlphabet(text) != text) {
      types[at] = PieceType::UserDefined; // it is searched by its raw text
    }
    data.added.push_back({static_cast<uint32_t>(at), flags});
    return absl::OkStatus();
  }

  void store() {
    for (size_t id = 0; id < texts.size(); ++id) {
      PieceType type = types[id];
      std::optional<std::string> bytes;
      if (type == PieceType::Normal && data.byteLevel) {
        bytes = fromByteAlphabet(texts[id]);
        type = bytes ? type : PieceType::UserDefined;
      } else if (type == PieceType::Normal && data.byteFallback &&
                 parseBytePiece(texts[id])) {
        type = PieceType::Byte;
      }
      data.pieces.push(bytes ? *bytes : texts[id]);
      data.types.push_back(type);
    }
    if (data.model != PieceModelKind::RankBpe) {
      data.scores.resize(texts.size(), 0.0);
    }
  }

  absl::Status readMerges() {
    auto list = getArray(*model, "merges");
    if (!list.ok()) {
      return list.status();
    }
    std::string joined;
    for (const json &entry : **list) {
      std::string_view left, right;
      if (entry.is_string()) {
        std::string_view line = entry.get_ref<const std::string &>();
        size_t space = line.find(' ');
        if (space != line.npos && line.find(' ', space + 1) == line.npos) {
          left = line.substr(0, space);
          right = line.substr(space + 1);
        }
      } else if (entry.is_array() && entry.size() == 2 &&
                 entry[0].is_string() && entry[1].is_string()) {
        left = entry[0].get_ref<const std::string &>();
        right = entry[1].get_ref<const std::string &>();
      }
      joined.assign(left).append(right);
      auto a = ids.find(left), b = ids.find(right), c = ids.find(joined);
      if (a == ids.end() || b == ids.end() || c == ids.end()) {
        return absl::InvalidArgumentError(
            strCat("merge ", data.merges.size(), " (", printable(entry.dump()),
                   ") is not two pieces of the vocabulary that make a third"));
      }
      data.merges.push_back({a->second, b->second, c->second});
    }
    return absl::OkStatus();
  }
};

} // namespace

absl::Status readJsonModel(const json &document, TokenizerData &data) {
  return JsonModel(document, data).read();
}

} // namespace quire
