#include "tools/cli/TextInput.h"

#include "runtime/engine/StatusMacros.h"
#include "tools/cli/Files.h"

namespace quire::cli {

void TextInput::addTo(Arguments &arguments, const char *fileHelp,
                      const char *noSpecialHelp) {
  arguments.name("-f,--file", file, fileHelp);
  arguments.flag("--no-special", noSpecial, noSpecialHelp);
  arguments.flag("--literal", literal,
                 "control tokens written out in the text are plain text");
}

absl::StatusOr<std::vector<TokenId>>
TextInput::read(const Tokenizer &tokenizer) const {
  QUIRE_ASSIGN_OR_RETURN(std::string text, readInput(file));
  return encode(tokenizer, text);
}

absl::StatusOr<std::vector<TokenId>>
TextInput::encode(const Tokenizer &tokenizer, std::string_view text) const {
  return tokenizer.encode(text,
                          {.addSpecial = !noSpecial, .parseSpecial = !literal});
}

} // namespace quire::cli
