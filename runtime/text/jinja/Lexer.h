// Cuts a template's source into tokens, with Jinja2's white-space rules as
// chat templates use them: the newline after a block tag goes, and so does the
// blank space before one on its line (trim_blocks, lstrip_blocks); `-` takes
// all white space on its side, `+` keeps it.

#ifndef QUIRE_RUNTIME_TEXT_JINJA_LEXER_H
#define QUIRE_RUNTIME_TEXT_JINJA_LEXER_H

#include "absl/status/statusor.h"

#include <string>
#include <string_view>
#include <vector>

namespace quire::jinja {

enum class TokenKind {
  Data,          ///< text between tags
  BlockBegin,    ///< {%
  BlockEnd,      ///< %}
  VariableBegin, ///< {{
  VariableEnd,   ///< }}
  Name,
  String, ///< text: the decoded value
  Integer,
  Float,
  Operator,
  End
};

struct Token {
  TokenKind kind;
  std::string text;
  int line;
};

absl::StatusOr<std::vector<Token>> tokenize(std::string_view source);

} // namespace quire::jinja

#endif
