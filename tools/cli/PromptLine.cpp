// parsePromptLine: one JSON object of a --prompts file.

#include "frontends/formats/Json.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "runtime/engine/StatusMacros.h"
#include "tools/cli/PromptSource.h"
#include "tools/cli/Report.h"

namespace quire::cli {

using nlohmann::json;

namespace {

absl::Status readTokens(const json &value, std::vector<int64_t> &tokens) {
  if (!value.is_array()) {
    return absl::InvalidArgumentError("'tokens' must be a list of token ids");
  }
  for (const json &token : value) {
    absl::StatusOr<int64_t> id = readInteger("tokens", token);
    if (!id.ok()) {
      return absl::InvalidArgumentError(
          strCat("'tokens' must be a list of token ids, got ",
                 printable(token.dump(-1, ' ', true,
                                      json::error_handler_t::replace))));
    }
    tokens.push_back(*id);
  }
  return absl::OkStatus();
}

absl::Status setField(const std::string &field, const json &value,
                      std::string_view source, Prompt &prompt) {
  if (field == "id") {
    return absl::OkStatus();
  }
  if (field == "prompt") {
    if (!value.is_string()) {
      return absl::InvalidArgumentError("'prompt' must be a text");
    }
    prompt.text = value.get<std::string>();
    return absl::OkStatus();
  }
  if (field == "tokens") {
    return readTokens(value, prompt.tokens);
  }
  if (field == "messages") {
    absl::StatusOr<ChatTemplate::Inputs> inputs = parseConversation(
        value.dump(-1, ' ', false, json::error_handler_t::replace), "");
    if (inputs.ok()) {
      prompt.conversation = *std::move(inputs);
    }
    return inputs.status();
  }
  if (field == "choices") {
    QUIRE_ASSIGN_OR_RETURN(prompt.choices, readInteger(field, value));
    return absl::OkStatus();
  }
  QUIRE_ASSIGN_OR_RETURN(bool known, prompt.sampling.set(field, value));
  if (!known) {
    warn(strCat(source, ": the field '", printable(field), "' is ignored"));
  }
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<Prompt> parsePromptLine(std::string_view line,
                                       std::string_view source,
                                       const SamplingOptions &defaults,
                                       nlohmann::ordered_json &id) {
  QUIRE_ASSIGN_OR_RETURN(json object, parseJson(line, source));
  if (!object.is_object()) {
    return absl::InvalidArgumentError(
        strCat(source, ": a request is a JSON object"));
  }
  if (auto found = object.find("id");
      found != object.end() && found->is_primitive()) {
    id = *found;
  }
  Prompt prompt{.sampling = defaults};
  for (const auto &[field, value] : object.items()) {
    absl::Status status = setField(field, value, source, prompt);
    if (!status.ok()) {
      return absl::Status(status.code(),
                          strCat(source, ": ", status.message()));
    }
  }
  int sources = object.contains("prompt") + object.contains("tokens") +
                object.contains("messages");
  if (sources != 1) {
    return absl::InvalidArgumentError(
        strCat(source,
               ": a request has one of 'prompt', 'tokens' and "
               "'messages', this one has ",
               sources));
  }
  return prompt;
}

} // namespace quire::cli
