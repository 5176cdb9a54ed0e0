// Where the prompts of `run` come from and how each becomes token ids: plain
// text, ids, or a conversation through the chat template.

#ifndef QUIRE_TOOLS_CLI_PROMPTSOURCE_H
#define QUIRE_TOOLS_CLI_PROMPTSOURCE_H

#include "runtime/Engine.h"
#include "tools/cli/ChatPrompt.h"
#include "tools/cli/SamplingOptions.h"

#include "nlohmann/json.hpp"

#include <optional>
#include <string>
#include <vector>

namespace quire::cli {

/// One request as the user wrote it.
struct Prompt {
  std::optional<std::string> text = {};
  std::vector<int64_t> tokens = {};                      // instead of text
  std::optional<ChatTemplate::Inputs> conversation = {}; // instead of both
  int64_t choices = 1;
  SamplingOptions sampling;
};

struct PromptRules {
  bool chat = false;        // text is a user's message
  std::string system;       // before it, if not empty
  bool parseSpecial = true; // control tokens written out in plain text count
};

/// Turns prompts into ids; made once per model.
class PromptEncoder {
public:
  static absl::StatusOr<PromptEncoder> create(const ModelText &model,
                                              const PromptRules &rules);
  absl::StatusOr<std::vector<int64_t>> encode(const Prompt &prompt) const;

private:
  PromptEncoder(const ModelText &model, const PromptRules &rules)
      : model(&model), rules(rules) {}

  const ModelText *model;
  PromptRules rules;
  std::optional<ChatPrompt> chat; // where the model has a template
};

/// One line of a --prompts file. `defaults` are the command line's options.
/// `id` is the request's own, set even where the rest is wrong, and kept as it
/// is where there is none.
absl::StatusOr<Prompt> parsePromptLine(std::string_view line,
                                       std::string_view source,
                                       const SamplingOptions &defaults,
                                       nlohmann::ordered_json &id);

} // namespace quire::cli

#endif
