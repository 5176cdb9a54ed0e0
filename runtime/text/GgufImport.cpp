// tokenizer.ggml.* of a GGUF file. The pieces are complete there, but the rules
// around them are only named ("llama-bpe"); GgufPreTokenizers.cpp has them.

#include "frontends/formats/GgufMetadata.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "runtime/text/Importers.h"
#include "runtime/text/PieceText.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

namespace quire {

namespace {

std::string key(std::string_view name) {
  return strCat("tokenizer.ggml.", name);
}

/// Optional values: absent keys give `fallback`, wrong types an error.
absl::StatusOr<bool> boolOr(const GgufMetadata &meta, std::string_view name,
                            bool fallback) {
  return meta.contains(key(name)) ? meta.getBool(key(name)) : fallback;
}

absl::Status readPieces(const GgufMetadata &meta, TokenizerData &data) {
  auto tokens = meta.getStrings(key("tokens"));
  if (!tokens.ok()) {
    return tokens.status();
  }
  std::vector<int64_t> types(tokens->size(), 1);
  if (meta.contains(key("token_type"))) {
    auto read = meta.getInts(key("token_type"));
    if (!read.ok()) {
      return read.status();
    }
    types = std::move(*read);
  }
  if (types.size() != tokens->size()) {
    return absl::InvalidArgumentError(strCat("tokenizer.ggml.token_type has ",
                                             types.size(), " entries for ",
                                             tokens->size(), " tokens"));
  }
  for (size_t id = 0; id < tokens->size(); ++id) {
    if (types[id] < 0 || types[id] > 6) {
      return absl::InvalidArgumentError(
          strCat("tokenizer.ggml.token_type of token ", id, " is ", types[id],
                 "; known are 1 to 6"));
    }
    // 0 (undefined) is what some converters write for padding rows.
    auto type = types[id] == 0 ? PieceType::UserDefined
                               : static_cast<PieceType>(types[id]);
    std::string_view text = (*tokens)[id];
    std::optional<std::string> bytes;
    if (data.byteLevel && data.isModelPiece(type)) {
      bytes = fromByteAlphabet(text);
      type = bytes ? type : PieceType::UserDefined;
    }
    data.pieces.push(bytes ? *bytes : text);
    data.types.push_back(type);
    auto token = static_cast<uint32_t>(id);
    if (type == PieceType::Control || type == PieceType::Unknown) {
      data.added.push_back({token, AddedSpecial});
    } else if (type == PieceType::UserDefined && types[id] != 0) {
      // SentencePiece looks for these behind the normaliser; files hold their
      // text with plain spaces instead, to be found in the raw text.
      data.added.push_back({token, 0});
    }
  }
  return absl::OkStatus();
}

absl::Status readMerges(const GgufMetadata &meta, TokenizerData &data) {
  auto merges = meta.getStrings(key("merges"));
  auto tokens = meta.getStrings(key("tokens"));
  if (!merges.ok() || !tokens.ok()) {
    return merges.ok() ? tokens.status() : merges.status();
  }
  std::unordered_map<std::string_view, uint32_t> ids;
  ids.reserve(tokens->size());
  for (size_t id = 0; id < tokens->size(); ++id) {
    ids.emplace((*tokens)[id], static_cast<uint32_t>(id));
  }
  std::string joined;
  data.merges.reserve(merges->size());
  for (size_t rank = 0; rank < merges->size(); ++rank) {
    std::string_view line = (*merges)[rank];
    size_t space = line.find(' ', 1);
    if (space == line.npos) {
      return absl::InvalidArgumentError(strCat("tokenizer.ggml.merges line ",
                                               rank, " (\"", printable(line),
                                               "\") is not two pieces"));
    }
    joined.assign(line.substr(0, space)).append(line.substr(space + 1));
    auto left = ids.find(line.substr(0, space));
    auto right = ids.find(line.substr(space + 1));
    auto merged = ids.find(joined);
    if (left == ids.end() || right == ids.end() || merged == ids.end()) {
      return absl::InvalidArgumentError(
          strCat("tokenizer.ggml.merges line ", rank, " (\"", printable(line),
                 "\") names a piece that is not in the vocabulary"));
    }
    data.merges.push_back({left->second, right->second, merged->second});
  }
  return absl::OkStatus();
}

absl::Status readScores(const GgufMetadata &meta, TokenizerData &data) {
  auto scores = meta.getFloats(key("scores"));
  if (!scores.ok()) {
    return scores.status();
  }
  data.scores.assign(scores->begin(), scores->end());
  data.byteFallback =
      std::ranges::find(data.types, PieceType::Byte) != data.types.end();
  data.fuseUnknown = data.floatScores = true;
  return absl::OkStatus();
}

/// Control tokens that end a turn whatever the file's eos says. GGUF has one
/// key for the end of text where Hugging Face's generation configuration lists
/// several, so the names that instruction models use are looked for.
constexpr std::string_view EndNames[] = {
    "<|im_end|>",      "<|eot_id|>",
    "<|eom_id|>",      "<|end|>",
    "<end_of_turn>",   "<|endoftext|>",
    "<|end_of_text|>", "<EOT>",
    "<|end_of_turn|>", "<|return|>",
    "<|call|>",        "<end_of_utterance>",
    "<|eot|>",         "<｜end▁of▁sentence｜>"};

absl::Status readSpecialIds(const GgufMetadata &meta, TokenizerData &data) {
  auto read = [&](std::string_view name,
                  TokenId fallback) -> absl::StatusOr<TokenId> {
    if (!meta.contains(key(name))) {
      return fallback;
    }
    auto id = meta.getInt(key(name));
    if (!id.ok()) {
      return id.status();
    }
    if (*id == -1 || *id == UINT32_MAX) { // how converters write "none"
      return -1;
    }
    if (*id < 0 || static_cast<size_t>(*id) >= data.pieces.size()) {
      return absl::InvalidArgumentError(strCat(key(name), " is ", *id,
                                               " but there are only ",
                                               data.pieces.size(), " tokens"));
    }
    return static_cast<TokenId>(*id);
  };
  // SentencePiece's own numbers, where a file of that kind names none.
  bool sentencePiece = data.model == PieceModelKind::ScoreBpe;
  auto orNone = [&](TokenId id) {
    bool there = sentencePiece && static_cast<size_t>(id) < data.pieces.size();
    return there ? id : -1;
  };
  struct {
    std::string_view name;
    TokenId fallback;
    TokenId *target;
  } fields[] = {{"bos_token_id", orNone(1), &data.bosId},
                {"unknown_token_id", orNone(0), &data.unknownId},
                {"padding_token_id", -1, &data.padId}};
  for (auto &field : fields) {
    auto id = read(field.name, field.fallback);
    if (!id.ok()) {
      return id.status();
    }
    *field.target = *id;
  }
  for (std::string_view name :
       {"eos_token_id", "eot_token_id", "eom_token_id"}) {
    auto id = read(name, name == "eos_token_id" ? orNone(2) : -1);
    if (!id.ok()) {
      return id.status();
    }
    addEndId(data, *id);
  }
  for (const AddedToken &token : data.added) {
    if ((token.flags & AddedSpecial) &&
        std::ranges::find(EndNames, data.pieces[token.id]) !=
            std::end(EndNames)) {
      addEndId(data, static_cast<TokenId>(token.id));
    }
  }
  // Byte-level vocabularies can write everything; what such files call the
  // unknown token is some other one (SmolLM2 names <|endoftext|>).
  if (data.byteLevel) {
    data.unknownId = -1;
  }
  return absl::OkStatus();
}

absl::Status readAffixes(const GgufMetadata &meta, bool bosByDefault,
                         bool endByDefault, TokenizerData &data) {
  auto addBos = boolOr(meta, "add_bos_token", bosByDefault);
  auto addEos = boolOr(meta, "add_eos_token", endByDefault);
  if (!addBos.ok() || !addEos.ok()) {
    return addBos.ok() ? addEos.status() : addBos.status();
  }
  if (*addBos && data.bosId >= 0) {
    data.prefixIds = {data.bosId};
  }
  if (*addEos && !data.endIds.empty()) {
    data.suffixIds = {data.endIds[0]};
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> readByteLevelRules(const GgufMetadata &meta,
                                        TokenizerData &data) {
  if (!meta.contains(key("pre"))) {
    return absl::InvalidArgumentError(
        "the file does not say how its tokenizer cuts text into words "
        "(tokenizer.ggml.pre is missing), and a guess would give wrong "
        "tokens; convert the model again with a current converter");
  }
  auto name = meta.getString(key("pre"));
  if (!name.ok()) {
    return name.status();
  }
  if (absl::Status status = readMerges(meta, data); !status.ok()) {
    return status;
  }
  return applyGgufPreTokenizer(*name, data);
}

absl::Status readSentencePieceRules(const GgufMetadata &meta,
                                    TokenizerData &data) {
  if (absl::Status status = readScores(meta, data); !status.ok()) {
    return status;
  }
  auto prefix = boolOr(meta, "add_space_prefix", true);
  auto collapse = boolOr(meta, "remove_extra_whitespaces", false);
  if (!prefix.ok() || !collapse.ok()) {
    return prefix.ok() ? collapse.status() : prefix.status();
  }
  SentencePieceRules rules{"", *prefix, *collapse};
  if (const GgufValue *map = meta.find(key("precompiled_charsmap"))) {
    rules.charsMap.assign(reinterpret_cast<const char *>(map->bytes.data()),
                          map->bytes.size());
  }
  applySentencePieceRules(rules, data);
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<TokenizerData> readGgufTokenizer(const GgufMetadata &meta) {
  auto kind = meta.getString(key("model"));
  if (!kind.ok()) {
    return kind.status();
  }
  TokenizerData data;
  data.byteLevel = *kind == "gpt2";
  if (*kind == "llama") {
    data.model = PieceModelKind::ScoreBpe;
  } else if (*kind == "t5") {
    data.model = PieceModelKind::Unigram;
  } else if (*kind != "gpt2") {
    return absl::UnimplementedError(strCat("the file's tokenizer is of kind \"",
                                           printable(*kind),
                                           "\"; known are gpt2, llama and t5"));
  }
  if (absl::Status status = readPieces(meta, data); !status.ok()) {
    return status;
  }
  bool bosByDefault = *kind == "llama";
  if (data.byteLevel) {
    auto bos = readByteLevelRules(meta, data);
    if (!bos.ok()) {
      return bos.status();
    }
    bosByDefault = *bos;
  } else if (absl::Status status = readSentencePieceRules(meta, data);
             !status.ok()) {
    return status;
  }
  if (absl::Status status = readSpecialIds(meta, data); !status.ok()) {
    return status;
  }
  absl::Status status = readAffixes(meta, bosByDefault, *kind == "t5", data);
  if (!status.ok()) {
    return status;
  }
  return data;
}

} // namespace quire
