#include "tools/compile/ModelText.h"

#include "frontends/formats/GgufFile.h"
#include "frontends/formats/HuggingFaceDirectory.h"
#include "frontends/formats/Json.h"

#include <fstream>
#include <sstream>

namespace quire {

using nlohmann::json;

static absl::StatusOr<std::string> readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    return absl::NotFoundError("cannot read " + path);
  }
  return text.str();
}

/// A template may be text, or a list of named ones of which "default" counts.
static std::string templateFrom(const json &value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  if (value.is_array()) {
    for (const json &entry : value) {
      if (entry.is_object() && entry.value("name", "") == "default" &&
          entry.contains("template") && entry["template"].is_string()) {
        return entry["template"].get<std::string>();
      }
    }
  }
  return "";
}

static absl::StatusOr<std::string>
readTemplate(const HuggingFaceDirectory &directory) {
  if (directory.hasFile("chat_template.jinja")) {
    return readFile(directory.fileIn("chat_template.jinja"));
  }
  if (!directory.hasFile("tokenizer_config.json")) {
    return "";
  }
  auto config = directory.readJson("tokenizer_config.json");
  if (!config.ok()) {
    return config.status();
  }
  auto found = config->find("chat_template");
  return found == config->end() ? "" : templateFrom(*found);
}

static absl::Status readDefaults(const json &config,
                                 manifest::GenerationDefaults &defaults) {
  auto temperature = findFloat(config, "temperature");
  auto topP = findFloat(config, "top_p");
  auto topK = findInt(config, "top_k", {0, 1 << 30});
  auto penalty = findFloat(config, "repetition_penalty");
  for (const absl::Status &status :
       {temperature.status(), topP.status(), topK.status(), penalty.status()}) {
    if (!status.ok()) {
      return status;
    }
  }
  defaults.set_temperature(static_cast<float>(temperature->value_or(0)));
  defaults.set_top_p(static_cast<float>(topP->value_or(0)));
  defaults.set_top_k(topK->value_or(0));
  defaults.set_repetition_penalty(static_cast<float>(penalty->value_or(0)));
  return absl::OkStatus();
}

/// eos_token_id of a configuration: a number, a list of numbers, or absent.
static void addStops(const json &config,
                     manifest::GenerationDefaults &defaults) {
  auto found = config.find("eos_token_id");
  if (found == config.end()) {
    return;
  }
  for (const json &id : found->is_array() ? *found : json::array({*found})) {
    bool known = false;
    for (int64_t old : defaults.stop_tokens()) {
      known = known || (id.is_number_integer() && id == old);
    }
    if (id.is_number_integer() && !known) {
      defaults.add_stop_tokens(id.get<int64_t>());
    }
  }
}

static absl::Status readHuggingFaceText(const HuggingFaceDirectory &directory,
                                        ModelText &text) {
  bool tokenizer = directory.hasFile("tokenizer.json") ||
                   directory.hasFile("tokenizer.model");
  if (tokenizer) {
    auto loaded = Tokenizer::fromDirectory(directory.path());
    if (!loaded.ok()) {
      return loaded.status();
    }
    text.tokenizer = *std::move(loaded);
  }
  auto chat = readTemplate(directory);
  if (!chat.ok()) {
    return chat.status();
  }
  text.chatTemplate = *std::move(chat);
  addStops(directory.config(), text.generation);
  if (directory.hasFile("generation_config.json")) {
    auto config = directory.readJson("generation_config.json");
    if (!config.ok()) {
      return config.status();
    }
    addStops(*config, text.generation);
    return readDefaults(*config, text.generation);
  }
  return absl::OkStatus();
}

static absl::Status readGgufText(const GgufFile &file, ModelText &text) {
  if (file.metadata().contains("tokenizer.ggml.tokens")) {
    auto loaded = Tokenizer::fromGguf(file);
    if (!loaded.ok()) {
      return loaded.status();
    }
    text.tokenizer = *std::move(loaded);
  }
  if (file.metadata().contains("tokenizer.chat_template")) {
    auto chat = file.metadata().getString("tokenizer.chat_template");
    if (!chat.ok()) {
      return chat.status();
    }
    text.chatTemplate = std::string(*chat);
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelText> readModelText(const Checkpoint &checkpoint) {
  ModelText text;
  text.generation.set_bos_token(-1);
  absl::Status status =
      checkpoint.kind() == CheckpointKind::Gguf
          ? readGgufText(static_cast<const GgufFile &>(checkpoint), text)
          : readHuggingFaceText(
                static_cast<const HuggingFaceDirectory &>(checkpoint), text);
  if (!status.ok()) {
    return status;
  }
  if (text.tokenizer) {
    text.generation.set_bos_token(text.tokenizer->bosId());
    for (TokenId id : text.tokenizer->endIds()) {
      addStops(json{{"eos_token_id", id}}, text.generation);
    }
  }
  return text;
}

} // namespace quire
