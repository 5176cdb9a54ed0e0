// A conversation as the prompt the model expects: through its chat template,
// in segments, so that what users write never becomes a control token.

#ifndef QUIRE_TOOLS_CLI_CHATPROMPT_H
#define QUIRE_TOOLS_CLI_CHATPROMPT_H

#include "runtime/text/ChatTemplate.h"
#include "runtime/text/Tokenizer.h"

#include <string>
#include <vector>

namespace quire::cli {

/// Reads a JSON list of {"role", "content"}, or an object with "messages" and
/// perhaps "tools". `source` names it in errors.
absl::StatusOr<ChatTemplate::Inputs> parseConversation(std::string_view text,
                                                       std::string_view source);

/// {"role": role, "content": content}, with invalid UTF-8 mended.
nlohmann::ordered_json messageOf(std::string_view role,
                                 std::string_view content);

class ChatPrompt {
public:
  /// FailedPrecondition when the model has no template.
  static absl::StatusOr<ChatPrompt> create(const std::string &source,
                                           const Tokenizer *tokenizer);

  absl::StatusOr<std::string> text(ChatTemplate::Inputs inputs) const;
  absl::StatusOr<std::vector<TokenId>> ids(ChatTemplate::Inputs inputs) const;

private:
  ChatPrompt(ChatTemplate chat, const Tokenizer *tokenizer)
      : chat(std::move(chat)), tokenizer(tokenizer) {}
  void addTokens(ChatTemplate::Inputs &inputs) const;

  ChatTemplate chat;
  const Tokenizer *tokenizer; // null: bos_token and eos_token are empty
};

} // namespace quire::cli

#endif
