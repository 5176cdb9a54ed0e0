// quire tokenize: text or a conversation to ids, ids to text.

#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "runtime/engine/StatusMacros.h"
#include "tools/cli/Arguments.h"
#include "tools/cli/ChatPrompt.h"
#include "tools/cli/Commands.h"
#include "tools/cli/Files.h"
#include "tools/cli/JsonOutput.h"
#include "tools/cli/ModelOptions.h"
#include "tools/cli/Report.h"
#include "tools/cli/TextInput.h"
#include "tools/cli/TextOfModel.h"

namespace quire::cli {

using nlohmann::ordered_json;

namespace {

struct TokenizeOptions {
  std::string model;
  std::string text;
  TextInput input; // where there is no text
  std::string decode;
  std::string messages;
  std::string templateFile;
  bool render = false;
  bool json = false;
  bool hasText = false;
  bool hasDecode = false;
};

absl::StatusOr<TokenizeOptions> parse(int argc, char **argv) {
  TokenizeOptions options;
  Arguments arguments("quire tokenize", "Text to token ids and back.");
  arguments.positional("MODEL", options.model,
                       "engine directory, Hugging Face directory or .gguf");
  arguments.positional("TEXT", options.text,
                       "what to encode (default: from -f, or stdin)",
                       /*required=*/false);
  options.input.addTo(arguments, "encode this file's text",
                      "without the begin and end tokens; with --decode, leave "
                      "control tokens out");
  arguments.option("--decode", options.decode, "ids with commas, to text");
  arguments.name("--messages", options.messages,
                 "JSON list of {role, content}: through the chat template");
  arguments.name("--template", options.templateFile,
                 "a chat template to use in place of the model's");
  arguments.flag("--render", options.render,
                 "print the rendered conversation, not its ids");
  arguments.flag("--json", options.json, "print JSON");
  QUIRE_RETURN_IF_ERROR(arguments.parse(argc, argv));
  QUIRE_RETURN_IF_ERROR(checkModelGiven(options.model));
  options.hasText = arguments.given("TEXT");
  options.hasDecode = arguments.given("--decode");
  int sources = options.hasText + options.hasDecode +
                !options.input.file.empty() + !options.messages.empty();
  if (sources > 1) {
    return usageError("give one of TEXT, -f, --decode and --messages");
  }
  if (options.messages.empty() &&
      (options.render || !options.templateFile.empty())) {
    return usageError("--render and --template go with --messages FILE.json");
  }
  return options;
}

absl::Status printText(const std::string &text, bool json) {
  return json ? writeJsonLine({{"text", text}})
              : writeOutput(strCat(text, "\n"));
}

absl::Status printIds(const Tokenizer &tokenizer,
                      const std::vector<TokenId> &ids, bool json) {
  if (json) {
    ordered_json pieces = ordered_json::array();
    for (TokenId id : ids) {
      pieces.push_back(toValidUtf8(tokenizer.piece(id)));
    }
    return writeJsonLine({{"ids", ids}, {"pieces", std::move(pieces)}});
  }
  std::string line;
  for (TokenId id : ids) {
    strAppend(line, line.empty() ? "" : ",", id);
  }
  return writeOutput(line + "\n");
}

absl::Status decode(const TokenizeOptions &options,
                    const Tokenizer &tokenizer) {
  std::vector<int64_t> numbers;
  if (!options.decode.empty()) {
    QUIRE_RETURN_IF_ERROR(parseNumbers("--decode", options.decode, numbers));
  }
  std::vector<TokenId> ids;
  for (int64_t number : numbers) {
    if (number < 0 || number >= static_cast<int64_t>(tokenizer.vocabSize())) {
      return absl::InvalidArgumentError(strCat("token ", number,
                                               " is outside the vocabulary of ",
                                               tokenizer.vocabSize()));
    }
    ids.push_back(static_cast<TokenId>(number));
  }
  return printText(
      tokenizer.decode(ids,
                       DecodeOptions{.skipSpecial = options.input.noSpecial}),
      options.json);
}

absl::Status converse(const TokenizeOptions &options, const ModelText &model) {
  QUIRE_ASSIGN_OR_RETURN(std::string text, readInput(options.messages));
  QUIRE_ASSIGN_OR_RETURN(ChatTemplate::Inputs inputs,
                         parseConversation(text, options.messages));
  std::string source = model.chatTemplate;
  if (!options.templateFile.empty()) {
    QUIRE_ASSIGN_OR_RETURN(source, readInput(options.templateFile));
  }
  QUIRE_ASSIGN_OR_RETURN(ChatPrompt chat,
                         ChatPrompt::create(source, model.tokenizer.get()));
  if (options.render) {
    QUIRE_ASSIGN_OR_RETURN(std::string rendered, chat.text(std::move(inputs)));
    return printText(rendered, options.json);
  }
  QUIRE_ASSIGN_OR_RETURN(const Tokenizer *tokenizer, needTokenizer(model));
  QUIRE_ASSIGN_OR_RETURN(std::vector<TokenId> ids, chat.ids(std::move(inputs)));
  return printIds(*tokenizer, ids, options.json);
}

absl::Status encode(const TokenizeOptions &options,
                    const Tokenizer &tokenizer) {
  QUIRE_ASSIGN_OR_RETURN(std::vector<TokenId> ids,
                         options.hasText
                             ? options.input.encode(tokenizer, options.text)
                             : options.input.read(tokenizer));
  return printIds(tokenizer, ids, options.json);
}

} // namespace

absl::Status tokenizeCommand(int argc, char **argv) {
  QUIRE_ASSIGN_OR_RETURN(TokenizeOptions options, parse(argc, argv));
  QUIRE_ASSIGN_OR_RETURN(ModelText model, textOfModel(options.model));
  if (!options.messages.empty()) {
    return converse(options, model);
  }
  QUIRE_ASSIGN_OR_RETURN(const Tokenizer *tokenizer, needTokenizer(model));
  return options.hasDecode ? decode(options, *tokenizer)
                           : encode(options, *tokenizer);
}

} // namespace quire::cli
