// quire eval: how likely a model finds given text, and its logits.

#include "absl/strings/str_format.h"
#include "frontends/formats/Counted.h"
#include "frontends/formats/StrCat.h"
#include "runtime/engine/StatusMacros.h"
#include "tools/cli/Commands.h"
#include "tools/cli/Files.h"
#include "tools/cli/Interrupt.h"
#include "tools/cli/JsonOutput.h"
#include "tools/cli/NpyWriter.h"
#include "tools/cli/Report.h"
#include "tools/cli/Run.h"
#include "tools/cli/TextInput.h"

#include <algorithm>
#include <cmath>

namespace quire::cli {

using nlohmann::ordered_json;

namespace {

struct EvalOptions {
  ModelOptions model;
  TextInput text;
  std::string tokens;
  std::string logits;
  int64_t context = 0;
  int64_t chunk = 0;
  int64_t generatedFrom = -1;
  bool decode = false;
  bool json = false;
  bool hasTokens = false;
};

absl::StatusOr<EvalOptions> parse(int argc, char **argv) {
  EvalOptions options;
  Arguments arguments("quire eval", "Scores given text.");
  options.model.addTo(arguments);
  options.text.addTo(arguments, "the text (default: from stdin)",
                     "without the begin and end tokens");
  arguments.option("--tokens", options.tokens, "the text as ids: 1,2,3");
  arguments.option("--context", options.context,
                   "cut the text into windows of this many tokens (default: "
                   "as many as fit)");
  arguments.name("--logits", options.logits,
                 "write all logits to this .npy file, [tokens, vocabulary]");
  arguments.option("--chunk", options.chunk, "rows of one step");
  arguments.flag("--decode", options.decode, "one token at a time");
  arguments.option("--generated-from", options.generatedFrom,
                   "rows from here on count as generated, not as prompt");
  arguments.flag("--json", options.json, "print JSON");
  QUIRE_RETURN_IF_ERROR(arguments.parse(argc, argv));
  options.hasTokens = arguments.given("--tokens");
  if (options.hasTokens && !options.text.file.empty()) {
    return usageError("give one of -f and --tokens");
  }
  if (options.decode && arguments.given("--chunk")) {
    return usageError("--decode is --chunk 1; give one of them");
  }
  for (const char *name : {"--context", "--chunk"}) {
    int64_t value = name[3] == 'o' ? options.context : options.chunk;
    if (arguments.given(name) && value < 1) {
      return usageError(strCat(name, " must be at least 1, got ", value));
    }
  }
  if (arguments.given("--generated-from") && options.generatedFrom < 0) {
    return usageError("--generated-from must be at least 0");
  }
  QUIRE_RETURN_IF_ERROR(options.model.check());
  return options;
}

/// log(sum(exp(logits))) minus the logit of `token`.
double negativeLogLikelihood(std::span<const float> logits, int64_t token) {
  double top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (float logit : logits) {
    sum += std::exp(logit - top);
  }
  return top + std::log(sum) - logits[token];
}

struct Score {
  double nll = 0;
  int64_t scored = 0; // tokens that had something before them
  int64_t windows = 0;
};

class Evaluation {
public:
  Evaluation(const EvalOptions &options, Engine &engine,
             std::vector<int64_t> tokens)
      : options(options), engine(engine), tokens(std::move(tokens)) {}

  absl::StatusOr<Score> run() {
    if (!options.logits.empty()) {
      QUIRE_ASSIGN_OR_RETURN(
          NpyWriter npy,
          NpyWriter::create(options.logits, count(), engine.vocabulary()));
      writer.emplace(std::move(npy));
    }
    int64_t length = windowLength();
    // An empty text is scored, too: the engine says what is wrong with it.
    for (int64_t begin = 0; begin == 0 || begin < count(); begin += length) {
      QUIRE_RETURN_IF_ERROR(
          scoreWindow(begin, std::min(length, count() - begin)));
    }
    if (writer) {
      QUIRE_RETURN_IF_ERROR(writer->finish());
    }
    return score;
  }

  int64_t windowLength() const {
    if (options.context > 0) {
      return options.context;
    }
    int64_t limit = engine.contextLimit();
    const EngineDirectory &directory = *engine.engineDirectory();
    // Where the cache is the limit, the last token has no place in it.
    bool cacheLimits = limit < directory.manifest().model().max_context();
    return std::max<int64_t>(1, limit - cacheLimits);
  }

private:
  int64_t count() const { return static_cast<int64_t>(tokens.size()); }

  absl::Status scoreWindow(int64_t begin, int64_t length) {
    ScoreOptions how;
    how.chunk = options.decode ? 1 : options.chunk;
    if (options.generatedFrom >= 0) {
      how.generatedFrom = std::max<int64_t>(0, options.generatedFrom - begin);
    }
    ++score.windows;
    return engine.score(
        std::span(tokens).subspan(begin, length), how,
        [&](int64_t position, std::span<const float> logits) -> absl::Status {
          if (interrupted()) {
            return interruptedError();
          }
          if (writer) {
            QUIRE_RETURN_IF_ERROR(writer->append(logits));
          }
          if (position + 1 == length) {
            return absl::OkStatus();
          }
          return addToken(begin + position, logits);
        });
  }

  absl::Status addToken(int64_t position, std::span<const float> logits) {
    double nll = negativeLogLikelihood(logits, tokens[position + 1]);
    if (!std::isfinite(nll)) {
      return absl::InternalError(
          strCat("the logits after token ", position,
                 " are not finite; the model or its weights are broken"));
    }
    score.nll += nll;
    ++score.scored;
    return absl::OkStatus();
  }

  const EvalOptions &options;
  Engine &engine;
  std::vector<int64_t> tokens;
  std::optional<NpyWriter> writer;
  Score score;
};

absl::StatusOr<std::vector<int64_t>> readTokens(const EvalOptions &options,
                                                const ModelText &model) {
  std::vector<int64_t> tokens;
  if (options.hasTokens) {
    QUIRE_RETURN_IF_ERROR(parseNumbers("--tokens", options.tokens, tokens));
    return tokens;
  }
  QUIRE_ASSIGN_OR_RETURN(const Tokenizer *tokenizer, needTokenizer(model));
  QUIRE_ASSIGN_OR_RETURN(std::vector<TokenId> ids,
                         options.text.read(*tokenizer));
  tokens.assign(ids.begin(), ids.end());
  return tokens;
}

absl::Status print(const Score &score, int64_t tokens, int64_t context,
                   bool json) {
  bool any = score.scored > 0;
  double mean = any ? score.nll / static_cast<double>(score.scored) : 0;
  if (json) {
    ordered_json document = {
        {"tokens", tokens},         {"scored", score.scored},
        {"windows", score.windows}, {"context", context},
        {"nll", score.nll},         {"nll_per_token", nullptr},
        {"perplexity", nullptr}};
    if (any) {
      document["nll_per_token"] = mean;
      document["perplexity"] = std::exp(mean);
    }
    return writeJsonLine(document);
  }
  std::string text = strCat("tokens         ", tokens, " in ",
                            counted(score.windows, "window"), ", ",
                            score.scored, " of them scored\n");
  if (any) {
    strAppend(text, absl::StrFormat("nll            %.6f, %.6f a token\n",
                                    score.nll, mean));
    strAppend(text, absl::StrFormat("perplexity     %.6f\n", std::exp(mean)));
  }
  return writeOutput(text);
}

} // namespace

absl::Status evalCommand(int argc, char **argv) {
  QUIRE_ASSIGN_OR_RETURN(EvalOptions options, parse(argc, argv));
  QUIRE_ASSIGN_OR_RETURN(LoadedModel loaded, loadModel(options.model));
  QUIRE_ASSIGN_OR_RETURN(std::vector<int64_t> tokens,
                         readTokens(options, loaded.text));
  int64_t count = static_cast<int64_t>(tokens.size());
  Evaluation evaluation(options, *loaded.engine, std::move(tokens));
  QUIRE_ASSIGN_OR_RETURN(Score score, evaluation.run());
  return print(score, count, evaluation.windowLength(), options.json);
}

} // namespace quire::cli
