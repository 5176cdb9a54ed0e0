// One choice of one request while it is generated: its tokens, and the text
// they make, cut before the first stop string and never inside a character.
// One thread.

#ifndef QUIRE_TOOLS_CLI_ANSWER_H
#define QUIRE_TOOLS_CLI_ANSWER_H

#include "runtime/Engine.h"
#include "runtime/text/IncrementalDecoder.h"
#include "runtime/text/StopMatcher.h"

#include "nlohmann/json_fwd.hpp"

#include <optional>
#include <string>
#include <vector>

namespace quire::cli {

class Answer {
public:
  /// `tokenizer` may be null: there is no text then, and no stop strings.
  Answer(const Tokenizer *tokenizer, const std::vector<std::string> &stops);

  /// Takes the next token and returns the text that is safe to show now.
  std::string push(const SampledToken &token, bool isStopToken);
  /// The text that was held back; the answer is over.
  std::string finish(const Finish &finish);

  /// A stop string was seen: nothing more comes.
  bool sawStop() const { return stops.stopped(); }
  bool isFinished() const { return end.has_value(); }
  const Finish &ending() const { return *end; }
  const std::string &text() const { return shown; }
  const std::vector<SampledToken> &tokens() const { return drawn; }
  const char *finishReason() const;

  /// The result as a JSON object, without the id. `logprobs`: were they asked
  /// for?
  nlohmann::ordered_json toJson(bool logprobs) const;

private:
  const Tokenizer *tokenizer;
  std::optional<IncrementalDecoder> decoder;
  StopMatcher stops;
  std::string shown;
  std::vector<SampledToken> drawn;
  std::optional<Finish> end;
};

/// A piece for people and JSON: bytes that are no characters are mended.
std::string pieceText(const Tokenizer *tokenizer, int64_t id);

} // namespace quire::cli

#endif
