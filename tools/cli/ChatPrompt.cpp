#include "tools/cli/ChatPrompt.h"

#include "frontends/formats/Json.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "runtime/engine/StatusMacros.h"

namespace quire::cli {

using nlohmann::ordered_json;

absl::StatusOr<ChatTemplate::Inputs>
parseConversation(std::string_view text, std::string_view source) {
  // The strict reader checks depth and size; the second one keeps the order
  // of keys, which templates can print.
  QUIRE_RETURN_IF_ERROR(parseJson(text, source).status());
  std::string prefix = source.empty() ? "" : strCat(printable(source), ": ");
  ordered_json json = ordered_json::parse(text, nullptr, false);
  ChatTemplate::Inputs inputs;
  if (json.is_object() && json.contains("messages")) {
    inputs.messages = json["messages"];
    if (json.contains("tools")) {
      inputs.tools = json["tools"];
    }
  } else {
    inputs.messages = std::move(json);
  }
  if (!inputs.messages.is_array()) {
    return absl::InvalidArgumentError(
        strCat(prefix, "a conversation is a list of {\"role\", \"content\"}"));
  }
  for (size_t i = 0; i < inputs.messages.size(); ++i) {
    const ordered_json &message = inputs.messages[i];
    if (!message.is_object() || !message.contains("role") ||
        !message["role"].is_string()) {
      return absl::InvalidArgumentError(
          strCat(prefix, "message ", i,
                 " must be an object with the text field \"role\""));
    }
  }
  return inputs;
}

ordered_json messageOf(std::string_view role, std::string_view content) {
  return {{"role", std::string(role)}, {"content", toValidUtf8(content)}};
}

absl::StatusOr<ChatPrompt> ChatPrompt::create(const std::string &source,
                                              const Tokenizer *tokenizer) {
  if (source.empty()) {
    return absl::FailedPreconditionError(
        "the model has no chat template; give plain prompts without --chat");
  }
  absl::StatusOr<ChatTemplate> chat = ChatTemplate::load(source);
  if (!chat.ok()) {
    return chat.status();
  }
  return ChatPrompt(*std::move(chat), tokenizer);
}

void ChatPrompt::addTokens(ChatTemplate::Inputs &inputs) const {
  if (!tokenizer) {
    return;
  }
  if (tokenizer->bosId() >= 0) {
    inputs.bosToken = tokenizer->piece(tokenizer->bosId());
  }
  if (!tokenizer->endIds().empty()) {
    inputs.eosToken = tokenizer->piece(tokenizer->endIds()[0]);
  }
}

/// What a template says while it renders, with whose words they are.
static absl::Status fromTemplate(const absl::Status &status) {
  return absl::Status(status.code(),
                      strCat("the chat template: ", status.message()));
}

absl::StatusOr<std::string>
ChatPrompt::text(ChatTemplate::Inputs inputs) const {
  addTokens(inputs);
  absl::StatusOr<std::string> text = chat.renderText(inputs);
  return text.ok() ? text : fromTemplate(text.status());
}

absl::StatusOr<std::vector<TokenId>>
ChatPrompt::ids(ChatTemplate::Inputs inputs) const {
  addTokens(inputs);
  absl::StatusOr<std::vector<ChatTemplate::Segment>> rendered =
      chat.render(inputs);
  if (!rendered.ok()) {
    return fromTemplate(rendered.status());
  }
  std::vector<TextSegment> segments;
  for (const ChatTemplate::Segment &segment : *rendered) {
    segments.push_back({segment.text, segment.fromTemplate});
  }
  // As transformers does it: the template writes every special token itself.
  return tokenizer->encodeSegments(segments, /*addSpecial=*/false);
}

} // namespace quire::cli
