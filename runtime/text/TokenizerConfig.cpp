// What the configuration files beside a tokenizer say about begin, end and
// padding tokens. Files disagree; the end ids are the union of all of them,
// because a model stops on any of them.

#include "frontends/formats/Json.h"
#include "frontends/formats/StrCat.h"
#include "runtime/text/Importers.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace quire {

using nlohmann::json;

namespace {

/// An absent file is an empty object.
absl::StatusOr<json> readOptional(const std::string &path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return json::object();
  }
  absl::StatusOr<json> document = readJson(path);
  if (document.ok() && !document->is_object()) {
    return absl::InvalidArgumentError(
        strCat("'", path, "': it is not a JSON object"));
  }
  return document;
}

/// A token by its text: "<s>" or {"content": "<s>"}.
TokenId tokenOf(const json &object, const char *name,
                const TokenizerData &data) {
  auto found = object.find(name);
  if (found == object.end()) {
    return -1;
  }
  const json *text = &*found;
  if (text->is_object()) {
    auto content = text->find("content");
    if (content == text->end()) {
      return -1;
    }
    text = &*content;
  }
  if (!text->is_string()) {
    return -1;
  }
  const std::string &wanted = text->get_ref<const std::string &>();
  for (const AddedToken &token : data.added) {
    if (data.pieces[token.id] == wanted) {
      return static_cast<TokenId>(token.id);
    }
  }
  for (size_t id = 0; id < data.pieces.size(); ++id) {
    if (data.pieces[id] == wanted) {
      return static_cast<TokenId>(id);
    }
  }
  return -1;
}

/// A number or a list of numbers. Ids outside the vocabulary are left out:
/// configurations are shared between models of one family.
std::vector<TokenId> idsOf(const json &object, const char *name,
                           const TokenizerData &data) {
  std::vector<TokenId> ids;
  auto add = [&](const json &id) {
    if (id.is_number_integer() && id.get<int64_t>() >= 0 &&
        id.get<int64_t>() < static_cast<int64_t>(data.pieces.size())) {
      ids.push_back(static_cast<TokenId>(id.get<int64_t>()));
    }
  };
  if (auto found = object.find(name); found != object.end()) {
    if (found->is_array()) {
      std::ranges::for_each(*found, add);
    } else {
      add(*found);
    }
  }
  return ids;
}

/// add_bos_token and add_eos_token, where a configuration states them, decide.
absl::Status applyAffix(const json &config, const char *name, TokenId id,
                        bool front, std::vector<TokenId> &affix) {
  auto flag = findBool(config, name);
  if (!flag.ok() || !*flag || id < 0) {
    return flag.status();
  }
  bool there = std::ranges::find(affix, id) != affix.end();
  if (**flag && !there) {
    affix.insert(front ? affix.begin() : affix.end(), id);
  } else if (!**flag && there) {
    std::erase(affix, id);
  }
  return absl::OkStatus();
}

} // namespace

absl::Status applyTokenizerConfig(const std::string &directory,
                                  TokenizerData &data) {
  auto config = readOptional(directory + "/tokenizer_config.json");
  auto map = readOptional(directory + "/special_tokens_map.json");
  auto generation = readOptional(directory + "/generation_config.json");
  auto model = readOptional(directory + "/config.json");
  for (const absl::Status &status :
       {config.status(), map.status(), generation.status(), model.status()}) {
    if (!status.ok()) {
      return status;
    }
  }
  TokenId eos = -1;
  auto setIfNone = [](TokenId &target, TokenId id) {
    target = target < 0 ? id : target;
  };
  for (const json *file : {&*config, &*map}) {
    setIfNone(data.bosId, tokenOf(*file, "bos_token", data));
    setIfNone(data.padId, tokenOf(*file, "pad_token", data));
    setIfNone(eos, tokenOf(*file, "eos_token", data));
    addEndId(data, tokenOf(*file, "eos_token", data));
  }
  for (const json *file : {&*generation, &*model}) {
    for (TokenId id : idsOf(*file, "bos_token_id", data)) {
      setIfNone(data.bosId, id);
    }
    for (TokenId id : idsOf(*file, "pad_token_id", data)) {
      setIfNone(data.padId, id);
    }
    for (TokenId id : idsOf(*file, "eos_token_id", data)) {
      setIfNone(eos, id);
      addEndId(data, id);
    }
  }
  absl::Status status =
      applyAffix(*config, "add_bos_token", data.bosId, true, data.prefixIds);
  if (status.ok()) {
    status = applyAffix(*config, "add_eos_token", eos, false, data.suffixIds);
  }
  return status;
}

} // namespace quire
