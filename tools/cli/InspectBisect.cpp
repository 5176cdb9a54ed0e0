#include "tools/cli/InspectBisect.h"

#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "runtime/engine/StatusMacros.h"
#include "tools/cli/Compiler.h"
#include "tools/cli/Report.h"
#include "tools/cli/TextOfModel.h"

namespace quire::cli {

namespace {

// Long enough for attention to have something to choose from, short enough
// for an interpreter that computes in double.
constexpr const char kDefaultPrompt[] =
    "Once upon a time there was a king who had three daughters.";

absl::StatusOr<std::vector<int64_t>> idsOf(const BisectRequest &request,
                                           const std::string &model) {
  std::vector<int64_t> numbers;
  if (!request.tokens.empty()) {
    QUIRE_RETURN_IF_ERROR(parseNumbers("--tokens", request.tokens, numbers));
    return numbers;
  }
  QUIRE_ASSIGN_OR_RETURN(ModelText text, textOfModel(model));
  QUIRE_ASSIGN_OR_RETURN(const Tokenizer *tokenizer, needTokenizer(text));
  QUIRE_ASSIGN_OR_RETURN(std::vector<TokenId> ids,
                         tokenizer->encode(request.prompt.empty()
                                               ? kDefaultPrompt
                                               : request.prompt,
                                           {.parseSpecial = true}));
  numbers.assign(ids.begin(), ids.end());
  return numbers;
}

std::string joined(const std::vector<int64_t> &ids) {
  std::string text;
  for (int64_t id : ids) {
    strAppend(text, text.empty() ? "" : ",", id);
  }
  return text;
}

} // namespace

void BisectRequest::addTo(Arguments &arguments) {
  arguments.flag("--bisect", wanted,
                 "find the pass and the launch that break the numbers, on a "
                 "short prompt");
  arguments.name("--checkpoint", checkpoint,
                 "with --bisect on an engine: what it was compiled from");
  arguments.name("-p,--prompt", prompt, "with --bisect: another prompt");
  arguments.name("--tokens", tokens, "with --bisect: the prompt as ids, 1,2,3");
}

absl::Status BisectRequest::check(const Arguments &arguments) const {
  for (const char *option : {"--checkpoint", "--prompt", "--tokens"}) {
    if (!wanted && arguments.given(option)) {
      return usageError(strCat(option, " goes with --bisect"));
    }
  }
  if (!prompt.empty() && !tokens.empty()) {
    return usageError("give one of -p and --tokens");
  }
  return absl::OkStatus();
}

absl::Status bisect(const BisectRequest &request, const ModelOptions &model,
                    bool json) {
  QUIRE_RETURN_IF_ERROR(model.check());
  bool isEngine = EngineDirectory::looksLikeEngine(model.model);
  if (isEngine && request.checkpoint.empty()) {
    return usageError(
        strCat("--bisect compares an engine with its checkpoint, and ",
               printable(model.model),
               " does not hold that; name it with --checkpoint, or give the "
               "checkpoint as MODEL"));
  }
  if (!isEngine && !request.checkpoint.empty()) {
    return usageError("--checkpoint goes with an engine, and MODEL is a "
                      "checkpoint already; leave it out");
  }
  QUIRE_ASSIGN_OR_RETURN(std::vector<int64_t> ids, idsOf(request, model.model));
  if (ids.empty()) {
    return usageError("the prompt is empty; give -p or --tokens some");
  }
  QUIRE_ASSIGN_OR_RETURN(std::string engine, engineDirectoryFor(model));
  std::vector<std::string> words = {"--bisect",
                                    isEngine ? request.checkpoint : model.model,
                                    engine, "--tokens", joined(ids)};
  if (!model.isa.empty()) {
    words.insert(words.end(), {"--isa", model.isa});
  }
  if (json) {
    words.push_back("--json");
  }
  return becomeCompiler(words);
}

} // namespace quire::cli
