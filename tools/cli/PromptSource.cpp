#include "tools/cli/PromptSource.h"

#include "frontends/formats/StrCat.h"
#include "runtime/engine/StatusMacros.h"
#include "tools/cli/TextOfModel.h"

namespace quire::cli {

absl::StatusOr<PromptEncoder> PromptEncoder::create(const ModelText &model,
                                                    const PromptRules &rules) {
  PromptEncoder encoder(model, rules);
  if (rules.chat || (model.tokenizer && !model.chatTemplate.empty())) {
    absl::StatusOr<ChatPrompt> chat =
        ChatPrompt::create(model.chatTemplate, model.tokenizer.get());
    if (chat.ok()) {
      encoder.chat = *std::move(chat);
    } else if (rules.chat) {
      return chat.status();
    }
  }
  if (rules.chat) {
    QUIRE_RETURN_IF_ERROR(needTokenizer(model).status());
  }
  return encoder;
}

absl::StatusOr<std::vector<int64_t>>
PromptEncoder::encode(const Prompt &prompt) const {
  if (!prompt.text && !prompt.conversation) {
    return prompt.tokens;
  }
  QUIRE_ASSIGN_OR_RETURN(const Tokenizer *tokenizer, needTokenizer(*model));
  std::vector<TokenId> ids;
  if (!prompt.conversation && !rules.chat) {
    QUIRE_ASSIGN_OR_RETURN(
        ids,
        tokenizer->encode(*prompt.text, {.parseSpecial = rules.parseSpecial}));
    return std::vector<int64_t>(ids.begin(), ids.end());
  }
  if (!chat) {
    return absl::FailedPreconditionError(
        "the model has no chat template that works; give a plain prompt");
  }
  ChatTemplate::Inputs inputs;
  if (prompt.conversation) {
    inputs = *prompt.conversation;
  } else {
    if (!rules.system.empty()) {
      inputs.messages.push_back(messageOf("system", rules.system));
    }
    inputs.messages.push_back(messageOf("user", *prompt.text));
  }
  QUIRE_ASSIGN_OR_RETURN(ids, chat->ids(std::move(inputs)));
  return std::vector<int64_t>(ids.begin(), ids.end());
}

} // namespace quire::cli
