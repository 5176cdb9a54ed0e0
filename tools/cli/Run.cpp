// quire run: continues one prompt, streaming, or hands over to a file of them.

#include "tools/cli/Run.h"

#include "absl/strings/str_format.h"
#include "frontends/formats/StrCat.h"
#include "runtime/engine/StatusMacros.h"
#include "tools/cli/Commands.h"
#include "tools/cli/Files.h"
#include "tools/cli/JsonOutput.h"
#include "tools/cli/Report.h"

#include <unistd.h>

namespace quire::cli {

using nlohmann::ordered_json;

namespace {

void describe(Arguments &arguments, RunOptions &options) {
  options.model.addTo(arguments);
  arguments.option("-p,--prompt", options.text, "the prompt");
  arguments.name("-f,--file", options.file, "the prompt, from a file");
  arguments.option("--tokens", options.tokens, "the prompt as ids: 1,2,3");
  arguments.name("--prompts", options.promptsFile,
                 "a file with one JSON request a line, served together");
  arguments.flag("--chat", options.rules.chat,
                 "the prompt is a message: apply the model's template");
  arguments.option("--system", options.rules.system,
                   "with --chat, a system message before it");
  arguments.flag("--literal", options.literal,
                 "control tokens written out in a prompt are plain text");
  options.sampling.addTo(arguments);
  arguments.flag("--show-tokens", options.showTokens,
                 "print one line a token: id, piece, log probability");
  arguments.flag("--json", options.json, "print JSON");
  arguments.flag("--stats", options.stats, "print speed and memory to stderr");
  arguments.refused("--draft", options.draft);
}

absl::StatusOr<RunOptions> parse(int argc, char **argv) {
  RunOptions options;
  Arguments arguments("quire run", "Continues a prompt.");
  describe(arguments, options);
  QUIRE_RETURN_IF_ERROR(arguments.parse(argc, argv));
  if (options.draft) {
    return usageError("--draft is not supported by this build");
  }
  if (arguments.given("-p") + arguments.given("-f") +
          arguments.given("--tokens") + arguments.given("--prompts") >
      1) {
    return usageError("give one of -p, -f, --tokens and --prompts");
  }
  if (!options.rules.system.empty() && !options.rules.chat) {
    return usageError("--system goes with --chat");
  }
  options.hasText = arguments.given("-p");
  options.hasTokens = arguments.given("--tokens");
  options.rules.parseSpecial = !options.literal;
  QUIRE_RETURN_IF_ERROR(options.sampling.check());
  QUIRE_RETURN_IF_ERROR(options.model.check());
  return options;
}

/// The one prompt, from wherever it comes.
absl::StatusOr<Prompt> readPrompt(const RunOptions &options) {
  Prompt prompt{.sampling = options.sampling};
  if (options.hasTokens) {
    QUIRE_RETURN_IF_ERROR(
        parseNumbers("--tokens", options.tokens, prompt.tokens));
    return prompt;
  }
  if (options.hasText) {
    prompt.text = options.text;
    return prompt;
  }
  if (options.file.empty() && ::isatty(STDIN_FILENO)) {
    note("reading the prompt from the terminal; end it with Ctrl-D");
  }
  QUIRE_ASSIGN_OR_RETURN(prompt.text, readInput(options.file));
  // Editors and echo end a file with a line end that nobody means.
  if (prompt.text->ends_with('\n')) {
    prompt.text->pop_back();
  }
  return prompt;
}

std::string tokenLine(const Tokenizer *tokenizer, const SampledToken &token,
                      bool logprobs) {
  ordered_json piece = pieceText(tokenizer, token.token);
  return strCat(token.token, "\t", piece.dump(),
                logprobs ? absl::StrFormat("\t%.6f", token.logprob) : "", "\n");
}

Serving::Callbacks callbacksFor(const RunOptions &options,
                                const Tokenizer *tokenizer) {
  Serving::Callbacks callbacks;
  bool logprobs = options.sampling.params.logprobs >= 0;
  if (options.json) {
    callbacks.finish = [logprobs](size_t, uint32_t, const Answer &answer) {
      ordered_json json = {{"id", 0}};
      json.update(answer.toJson(logprobs));
      QUIRE_RETURN_IF_ERROR(writeJsonLine(json));
      return answer.ending().error;
    };
  } else if (options.showTokens) {
    callbacks.token = [=](size_t, uint32_t, const SampledToken &token) {
      return writeOutput(tokenLine(tokenizer, token, logprobs));
    };
  } else {
    callbacks.text = [](size_t, uint32_t, std::string_view text) {
      return writeOutput(text);
    };
  }
  if (!options.json) {
    callbacks.finish = [](size_t, uint32_t, const Answer &answer) {
      return answer.ending().error;
    };
  }
  return callbacks;
}

absl::Status runOne(const RunOptions &options, const Prompt &prompt,
                    LoadedModel &loaded) {
  QUIRE_ASSIGN_OR_RETURN(PromptEncoder encoder,
                         PromptEncoder::create(loaded.text, options.rules));
  QUIRE_ASSIGN_OR_RETURN(std::vector<int64_t> ids, encoder.encode(prompt));
  const Tokenizer *tokenizer = loaded.text.tokenizer.get();
  noteCacheLimit(*loaded.engine);
  Serving serving(*loaded.engine, tokenizer, callbacksFor(options, tokenizer));
  QUIRE_RETURN_IF_ERROR(serving.submit(
      0, {std::move(ids), prompt.sampling.paramsFor(loaded.text)},
      prompt.sampling.stops));
  absl::Status status = serving.run();
  if (!options.json && !options.showTokens) {
    if (::isatty(STDOUT_FILENO)) {
      writeOutput("\n").IgnoreError();
    } else if (options.stats || !status.ok()) {
      separateStderrFromOutput();
    }
  }
  if (options.stats) {
    printStats(serving.times(), loaded.engine->stats());
  }
  return status;
}

} // namespace

void noteCacheLimit(const Engine &engine) {
  int64_t most = engine.engineDirectory()->manifest().model().max_context();
  if (engine.contextLimit() < most) {
    note(strCat("the cache holds ", engine.contextLimit(),
                " tokens, so a text ends there and not at the model's ", most,
                "; --cache-tokens asks for more"));
  }
}

absl::StatusOr<LoadedModel> loadModel(const ModelOptions &options) {
  LoadedModel loaded;
  QUIRE_ASSIGN_OR_RETURN(loaded.engine, openEngine(options));
  QUIRE_ASSIGN_OR_RETURN(loaded.text,
                         textOfEngine(*loaded.engine->engineDirectory()));
  return loaded;
}

void printStats(const ServingTimes &times, const EngineStats &stats) {
  double decoding = times.total - times.firstToken;
  int64_t later = std::max<int64_t>(0, times.newTokens - 1);
  note(absl::StrFormat(
      "prompt: %d tokens, %.1f tokens/s; first token after %.3f s",
      times.promptTokens,
      static_cast<double>(times.promptTokens) /
          std::max(times.firstToken, 1e-9),
      times.firstToken));
  note(absl::StrFormat("generated: %d tokens, %.1f tokens/s after the first",
                       times.newTokens,
                       static_cast<double>(later) / std::max(decoding, 1e-9)));
  note(absl::StrFormat("steps: %d, preemptions: %d, total %.3f s, peak memory "
                       "%s",
                       stats.steps, stats.preemptions, times.total,
                       readableBytes(peakMemoryBytes())));
}

absl::Status runCommand(int argc, char **argv) {
  QUIRE_ASSIGN_OR_RETURN(RunOptions options, parse(argc, argv));
  if (!options.promptsFile.empty()) {
    return runPromptFile(options);
  }
  QUIRE_ASSIGN_OR_RETURN(Prompt prompt, readPrompt(options));
  QUIRE_ASSIGN_OR_RETURN(LoadedModel loaded, loadModel(options.model));
  return runOne(options, prompt, loaded);
}

} // namespace quire::cli
