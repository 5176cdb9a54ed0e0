// quire run --prompts: many requests together, results as they finish.

#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "runtime/engine/StatusMacros.h"
#include "tools/cli/Files.h"
#include "tools/cli/JsonOutput.h"
#include "tools/cli/Report.h"
#include "tools/cli/Run.h"

namespace quire::cli {

using nlohmann::ordered_json;

namespace {

struct FileRequest {
  ordered_json id;
  int64_t choices = 1;
  bool logprobs = false;
};

class PromptFileRun {
public:
  PromptFileRun(const RunOptions &options, LoadedModel &loaded,
                PromptEncoder encoder)
      : options(options), loaded(loaded), encoder(std::move(encoder)),
        serving(*loaded.engine, loaded.text.tokenizer.get(),
                {.finish = [this](size_t number, uint32_t choice,
                                  const Answer &answer) {
                  return finished(number, choice, answer);
                }}) {}

  absl::Status run(std::string_view text) {
    int64_t lineNumber = 0;
    for (size_t begin = 0; begin < text.size();) {
      size_t end = std::min(text.find('\n', begin), text.size());
      std::string_view line = text.substr(begin, end - begin);
      begin = end + 1;
      ++lineNumber;
      if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
        QUIRE_RETURN_IF_ERROR(accept(line, lineNumber));
      }
    }
    QUIRE_RETURN_IF_ERROR(serving.run());
    if (options.stats) {
      printStats(serving.times(), loaded.engine->stats());
    }
    if (failures > 0) {
      return absl::InvalidArgumentError(
          strCat(failures, " of ", requests.size(),
                 " requests failed; their results say why"));
    }
    return absl::OkStatus();
  }

private:
  /// Queues a line's request, or reports what is wrong with it.
  absl::Status accept(std::string_view line, int64_t lineNumber) {
    std::string source =
        strCat(printable(options.promptsFile), " line ", lineNumber);
    size_t number = requests.size();
    FileRequest &request = requests.emplace_back();
    request.id = number;
    absl::Status status = [&]() -> absl::Status {
      QUIRE_ASSIGN_OR_RETURN(
          Prompt prompt,
          parsePromptLine(line, source, options.sampling, request.id));
      QUIRE_ASSIGN_OR_RETURN(std::vector<int64_t> ids, encoder.encode(prompt));
      request.choices = prompt.choices;
      request.logprobs = prompt.sampling.params.logprobs >= 0;
      return serving.submit(number,
                            {std::move(ids),
                             prompt.sampling.paramsFor(loaded.text),
                             prompt.choices},
                            prompt.sampling.stops);
    }();
    return status.ok() ? status : refuse(request, status);
  }

  absl::Status refuse(const FileRequest &request, const absl::Status &reason) {
    ++failures;
    if (!options.json) {
      warn(strCat("request ", request.id.dump(), ": ", reason.message()));
      return absl::OkStatus();
    }
    return writeJsonLine({{"id", request.id},
                          {"text", ""},
                          {"tokens", ordered_json::array()},
                          {"finish_reason", "error"},
                          {"error", strCat(reason.message())},
                          {"usage",
                           {{"prompt_tokens", 0},
                            {"completion_tokens", 0},
                            {"cached_tokens", 0}}}});
  }

  absl::Status finished(size_t number, uint32_t choice, const Answer &answer) {
    const FileRequest &request = requests[number];
    failures += !answer.ending().error.ok();
    if (options.json) {
      ordered_json json = {{"id", request.id}, {"choice", choice}};
      json.update(answer.toJson(request.logprobs));
      return writeJsonLine(json);
    }
    std::string heading =
        strCat("== ", request.id.is_string() ? request.id.get<std::string>()
                                             : request.id.dump());
    if (request.choices > 1) {
      strAppend(heading, " choice ", choice);
    }
    if (!answer.ending().error.ok()) {
      strAppend(heading, " failed: ", answer.ending().error.message());
    }
    return writeOutput(strCat(heading, "\n", answer.text(), "\n"));
  }

  const RunOptions &options;
  LoadedModel &loaded;
  PromptEncoder encoder;
  std::vector<FileRequest> requests; // by number
  int64_t failures = 0;
  Serving serving;
};

} // namespace

absl::Status runPromptFile(const RunOptions &options) {
  QUIRE_ASSIGN_OR_RETURN(std::string text, readInput(options.promptsFile));
  QUIRE_ASSIGN_OR_RETURN(LoadedModel loaded, loadModel(options.model));
  QUIRE_ASSIGN_OR_RETURN(PromptEncoder encoder,
                         PromptEncoder::create(loaded.text, options.rules));
  noteCacheLimit(*loaded.engine);
  PromptFileRun run(options, loaded, std::move(encoder));
  return run.run(text);
}

} // namespace quire::cli
