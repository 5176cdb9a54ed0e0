// "decoder" and "post_processor" of a tokenizer.json, and the whole of it.

#include "frontends/formats/Json.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "runtime/text/Importers.h"

#include "nlohmann/json.hpp"

#include <algorithm>

namespace quire {

using nlohmann::json;

static absl::Status unsupported(std::string_view what, std::string_view type) {
  return absl::UnimplementedError(
      strCat("its ", what, " \"", printable(type), "\" is not supported"));
}

/// Calls `each` for a step, or for every step of a Sequence.
template <typename Each>
static absl::Status forEachStep(const json &step, const char *listName,
                                Each each) {
  if (step.is_null()) {
    return absl::OkStatus();
  }
  auto type = getString(step, "type");
  if (!type.ok()) {
    return type.status();
  }
  if (*type != "Sequence") {
    return each(*type, step);
  }
  auto list = getArray(step, listName);
  if (!list.ok()) {
    return list.status();
  }
  for (const json &item : **list) {
    absl::Status status = forEachStep(item, listName, each);
    if (!status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

static absl::Status readMetaspaceDecoder(const json &step, DecoderRules &out) {
  auto mark = findString(step, "replacement");
  auto scheme = findString(step, "prepend_scheme");
  auto prefix = findBool(step, "add_prefix_space");
  for (const absl::Status &status :
       {mark.status(), scheme.status(), prefix.status()}) {
    if (!status.ok()) {
      return status;
    }
  }
  std::string text = mark->value_or("\u2581");
  bool prepends = *scheme ? **scheme != "never" : prefix->value_or(true);
  out.stripFirstPiece = prepends ? text : "";
  out.replace.emplace_back(text, " ");
  return absl::OkStatus();
}

static absl::Status readDecoderStep(std::string_view type, const json &step,
                                    TokenizerData &data) {
  DecoderRules &out = data.decoder;
  if (type == "Metaspace") {
    return readMetaspaceDecoder(step, out);
  }
  if (type == "ByteFallback") {
    out.byteFallback = true;
  } else if (type == "Replace") {
    auto pattern = getObject(step, "pattern");
    auto content = getString(step, "content");
    if (!pattern.ok() || !content.ok()) {
      return pattern.ok() ? content.status() : pattern.status();
    }
    auto text = getString(**pattern, "String");
    if (!text.ok() || text->empty()) {
      return unsupported("decoder", "Replace with a regular expression");
    }
    out.replace.emplace_back(std::move(*text), std::move(*content));
  } else if (type == "Strip") {
    auto content = getString(step, "content");
    auto start = findInt(step, "start", {0, 1 << 20});
    auto stop = findInt(step, "stop", {0, 1 << 20});
    for (const absl::Status &status :
         {content.status(), start.status(), stop.status()}) {
      if (!status.ok()) {
        return status;
      }
    }
    if (stop->value_or(0) != 0) {
      // Text that may still go on has no end to strip.
      return unsupported("decoder", "Strip with a stop count");
    }
    out.stripStart = *content;
    out.stripStartCount = static_cast<uint32_t>(start->value_or(0));
  } else if (type == "ByteLevel") {
    if (!data.byteLevel) {
      return unsupported("decoder",
                         "ByteLevel without the ByteLevel pre-tokenizer");
    }
  } else if (type != "Fuse") {
    return unsupported("decoder", type);
  }
  return absl::OkStatus();
}

absl::Status readJsonDecoder(const json &step, TokenizerData &data) {
  return forEachStep(step, "decoders",
                     [&](std::string_view type, const json &item) {
                       return readDecoderStep(type, item, data);
                     });
}

static absl::Status appendIds(const json &ids, TokenizerData &data,
                              std::vector<TokenId> &out) {
  for (const json &id : ids) {
    if (!id.is_number_integer() || id.get<int64_t>() < 0 ||
        id.get<int64_t>() >= static_cast<int64_t>(data.pieces.size())) {
      return absl::InvalidArgumentError(
          strCat("its post-processor names the id ", printable(id.dump()),
                 ", which is not in the vocabulary"));
    }
    out.push_back(static_cast<TokenId>(id.get<int64_t>()));
  }
  return absl::OkStatus();
}

/// {"single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}],
///  "special_tokens": {"<s>": {"ids": [1]}}}
static absl::Status readTemplate(const json &step, TokenizerData &data) {
  auto single = getArray(step, "single");
  auto special = getObject(step, "special_tokens");
  if (!single.ok() || !special.ok()) {
    return single.ok() ? special.status() : single.status();
  }
  bool behind = false;
  for (const json &item : **single) {
    if (item.is_object() && item.contains("Sequence")) {
      if (behind) {
        return unsupported("post-processor", "a template with two sequences");
      }
      behind = true;
      continue;
    }
    auto token = getObject(item, "SpecialToken");
    if (!token.ok()) {
      return token.status();
    }
    auto name = getString(**token, "id");
    if (!name.ok()) {
      return name.status();
    }
    auto entry = getObject(**special, *name);
    if (!entry.ok()) {
      return entry.status();
    }
    auto ids = getArray(**entry, "ids");
    if (!ids.ok()) {
      return ids.status();
    }
    absl::Status status =
        appendIds(**ids, data, behind ? data.suffixIds : data.prefixIds);
    if (!status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

/// {"cls": ["<s>", 0], "sep": ["</s>", 2]}
static absl::Status readClsSep(const json &step, TokenizerData &data) {
  for (auto [name, out] :
       {std::pair{"cls", &data.prefixIds}, std::pair{"sep", &data.suffixIds}}) {
    auto pair = getArray(step, name);
    if (!pair.ok()) {
      return pair.status();
    }
    if ((*pair)->size() != 2) {
      return unsupported("post-processor", name);
    }
    absl::Status status = appendIds(json::array({(**pair)[1]}), data, *out);
    if (!status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status readJsonPostProcessor(const json &step, TokenizerData &data) {
  return forEachStep(
      step, "processors",
      [&](std::string_view type, const json &item) -> absl::Status {
        if (type == "TemplateProcessing") {
          return readTemplate(item, data);
        }
        if (type == "BertProcessing" || type == "RobertaProcessing") {
          return readClsSep(item, data);
        }
        // ByteLevel only trims offsets.
        return type == "ByteLevel" ? absl::OkStatus()
                                   : unsupported("post-processor", type);
      });
}

absl::StatusOr<TokenizerData> readTokenizerJson(const json &document) {
  if (!document.is_object()) {
    return absl::InvalidArgumentError("it is not a JSON object");
  }
  TokenizerData data;
  const json none;
  auto part = [&](const char *name) -> const json & {
    auto found = document.find(name);
    return found == document.end() ? none : *found;
  };
  absl::Status status = readJsonPreTokenizer(part("pre_tokenizer"), data);
  if (status.ok()) {
    status = readJsonModel(document, data);
  }
  if (status.ok()) {
    status = readJsonNormalizer(part("normalizer"), data);
  }
  if (status.ok()) {
    status = readJsonDecoder(part("decoder"), data);
  }
  if (status.ok()) {
    status = readJsonPostProcessor(part("post_processor"), data);
  }
  if (!status.ok()) {
    return status;
  }
  return data;
}

} // namespace quire
