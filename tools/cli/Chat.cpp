// quire chat: a conversation at the terminal, or through a pipe, one message
// a line.

#include "frontends/formats/StrCat.h"
#include "runtime/engine/StatusMacros.h"
#include "tools/cli/Commands.h"
#include "tools/cli/Files.h"
#include "tools/cli/Interrupt.h"
#include "tools/cli/Report.h"
#include "tools/cli/Run.h"

#include <unistd.h>

namespace quire::cli {

namespace {

struct ChatOptions {
  ModelOptions model;
  SamplingOptions sampling{1024};
  std::string system;
  bool stats = false;
  bool draft = false;
};

absl::StatusOr<ChatOptions> parse(int argc, char **argv) {
  ChatOptions options;
  Arguments arguments("quire chat",
                      "Talks to a model. /reset starts anew, /exit leaves, "
                      "Ctrl-C stops an answer.");
  options.model.addTo(arguments);
  arguments.option("--system", options.system, "a system message");
  options.sampling.addTo(arguments);
  arguments.flag("--stats", options.stats, "print speed and memory to stderr");
  arguments.refused("--draft", options.draft);
  QUIRE_RETURN_IF_ERROR(arguments.parse(argc, argv));
  if (options.draft) {
    return usageError("--draft is not supported by this build");
  }
  QUIRE_RETURN_IF_ERROR(options.sampling.check());
  QUIRE_RETURN_IF_ERROR(options.model.check());
  return options;
}

class Conversation {
public:
  Conversation(const ChatOptions &options, LoadedModel &loaded,
               ChatPrompt prompt)
      : options(options), loaded(loaded), prompt(std::move(prompt)) {
    reset();
  }

  void reset() {
    messages = nlohmann::ordered_json::array();
    if (!options.system.empty()) {
      messages.push_back(messageOf("system", options.system));
    }
  }

  /// Streams the answer to `message` and keeps both. After an error the
  /// message is forgotten and the conversation can go on.
  absl::Status say(const std::string &message) {
    messages.push_back(messageOf("user", message));
    std::string answer;
    absl::Status status = generate(answer);
    bool stopped = absl::IsCancelled(status);
    if (!status.ok() && !stopped) {
      messages.erase(messages.size() - 1);
      return status;
    }
    messages.push_back(messageOf("assistant", answer));
    QUIRE_RETURN_IF_ERROR(writeOutput("\n"));
    return status;
  }

private:
  absl::Status generate(std::string &answer) {
    ChatTemplate::Inputs inputs;
    inputs.messages = messages;
    QUIRE_ASSIGN_OR_RETURN(std::vector<TokenId> ids,
                           prompt.ids(std::move(inputs)));
    Serving serving(
        *loaded.engine, loaded.text.tokenizer.get(),
        {.text =
             [&](size_t, uint32_t, std::string_view text) {
               answer += text;
               return writeOutput(text);
             },
         .finish = [](size_t, uint32_t,
                      const Answer &result) { return result.ending().error; }});
    QUIRE_RETURN_IF_ERROR(
        serving.submit(0,
                       {std::vector<int64_t>(ids.begin(), ids.end()),
                        options.sampling.paramsFor(loaded.text)},
                       options.sampling.stops));
    absl::Status status = serving.run();
    if (options.stats) {
      printStats(serving.times(), loaded.engine->stats());
    }
    return status;
  }

  const ChatOptions &options;
  LoadedModel &loaded;
  ChatPrompt prompt;
  nlohmann::ordered_json messages;
};

/// Refused messages (too long, a template that objects) end nothing.
bool canGoOn(const absl::Status &status) {
  return absl::IsInvalidArgument(status) || absl::IsResourceExhausted(status) ||
         absl::IsInternal(status);
}

absl::Status converse(Conversation &conversation, bool terminal) {
  LineReader lines;
  while (true) {
    if (terminal) {
      QUIRE_RETURN_IF_ERROR(writeOutput("> "));
    }
    std::optional<std::string> line = lines.next();
    if (interrupted()) {
      return interruptedError();
    }
    if (!line || *line == "/exit") {
      return absl::OkStatus();
    }
    if (*line == "/reset") {
      conversation.reset();
      note("the conversation starts anew");
      continue;
    }
    if (line->empty()) {
      continue;
    }
    absl::Status status = conversation.say(*line);
    if (absl::IsCancelled(status)) {
      forgetInterrupts();
      note("stopped; Ctrl-C again leaves");
    } else if (!status.ok() && canGoOn(status)) {
      exitStatusOf(status);
      note("/reset starts a new conversation");
    } else if (!status.ok()) {
      return status;
    }
  }
}

} // namespace

absl::Status chatCommand(int argc, char **argv) {
  QUIRE_ASSIGN_OR_RETURN(ChatOptions options, parse(argc, argv));
  QUIRE_ASSIGN_OR_RETURN(LoadedModel loaded, loadModel(options.model));
  QUIRE_RETURN_IF_ERROR(needTokenizer(loaded.text).status());
  QUIRE_ASSIGN_OR_RETURN(ChatPrompt prompt,
                         ChatPrompt::create(loaded.text.chatTemplate,
                                            loaded.text.tokenizer.get()));
  bool terminal = ::isatty(STDIN_FILENO) && ::isatty(STDOUT_FILENO);
  if (terminal) {
    note("one message a line; /reset starts anew, /exit leaves, Ctrl-C stops "
         "an answer");
  }
  Conversation conversation(options, loaded, std::move(prompt));
  return converse(conversation, terminal);
}

} // namespace quire::cli
