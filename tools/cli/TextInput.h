// Text that becomes token ids as it stands, of `eval` and `tokenize`: where it
// comes from, and which control tokens go with it.

#ifndef QUIRE_TOOLS_CLI_TEXTINPUT_H
#define QUIRE_TOOLS_CLI_TEXTINPUT_H

#include "runtime/text/Tokenizer.h"
#include "tools/cli/Arguments.h"

#include <string_view>
#include <vector>

namespace quire::cli {

struct TextInput {
  std::string file; // empty: stdin
  bool noSpecial = false;
  bool literal = false;

  /// The help of -f and --no-special is the command's.
  void addTo(Arguments &arguments, const char *fileHelp,
             const char *noSpecialHelp);

  /// Ids of the file's text, or of stdin's.
  absl::StatusOr<std::vector<TokenId>> read(const Tokenizer &tokenizer) const;
  absl::StatusOr<std::vector<TokenId>> encode(const Tokenizer &tokenizer,
                                              std::string_view text) const;
};

} // namespace quire::cli

#endif
