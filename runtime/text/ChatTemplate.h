// A model's chat template: Jinja source that turns a conversation into the
// prompt. Loading compiles it and refuses what is not supported; rendering is
// bounded in time and memory whatever the template does. A loaded template is
// immutable: any number of threads may render it at once.
//
// The result is cut into segments: text the template wrote, in which special
// tokens are control tokens, and text of the conversation, in which they are
// plain text.

#ifndef QUIRE_RUNTIME_TEXT_CHATTEMPLATE_H
#define QUIRE_RUNTIME_TEXT_CHATTEMPLATE_H

#include "absl/status/statusor.h"

#include <nlohmann/json.hpp>

#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

class ChatTemplate {
public:
  struct Segment {
    std::string text;
    /// False: the text is the conversation's own, special tokens included.
    bool fromTemplate;
  };

  struct Inputs {
    nlohmann::ordered_json messages = nlohmann::ordered_json::array();
    /// Null where there are none, as transformers passes them.
    nlohmann::ordered_json tools;
    nlohmann::ordered_json documents;
    bool addGenerationPrompt = true;
    std::string bosToken;
    std::string eosToken;
    /// Further variables, an object: "enable_thinking", "reasoning_effort"...
    /// Their text counts as the conversation's.
    nlohmann::ordered_json extra = nlohmann::ordered_json::object();
    /// What strftime_now tells; the local time if not set.
    std::function<std::tm()> clock;
  };

  /// Compiles a template. The error names the line and what is wrong.
  static absl::StatusOr<ChatTemplate> load(std::string_view source);

  ChatTemplate(ChatTemplate &&) noexcept;
  ChatTemplate &operator=(ChatTemplate &&) noexcept;
  ~ChatTemplate();

  /// InvalidArgument: the template refused the conversation ("line N: " and
  /// its own message) or failed on it. ResourceExhausted: it ran too long or
  /// wrote too much.
  absl::StatusOr<std::vector<Segment>> render(const Inputs &inputs) const;
  absl::StatusOr<std::string> renderText(const Inputs &inputs) const;

private:
  struct Program;
  explicit ChatTemplate(std::unique_ptr<Program> program);
  std::unique_ptr<Program> program;
};

} // namespace quire

#endif
