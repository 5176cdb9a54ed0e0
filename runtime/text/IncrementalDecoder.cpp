#include "runtime/text/IncrementalDecoder.h"
#include "runtime/text/Utf8.h"

namespace quire {

IncrementalDecoder::IncrementalDecoder(const Tokenizer &tokenizer,
                                       DecodeOptions options)
    : tokenizer(&tokenizer), skipSpecial(options.skipSpecial),
      first(!options.continues),
      stripsLeft(options.continues
                     ? 0
                     : tokenizer.data().settings().decoder.stripStartCount) {}

std::string IncrementalDecoder::push(TokenId id) {
  if (skipSpecial && tokenizer->isSpecial(id)) {
    return {};
  }
  std::string text = tokenizer->pieceBytes(id, first);
  first = false;
  const std::string &mark = tokenizer->data().settings().decoder.stripStart;
  while (stripsLeft > 0 && !mark.empty() && text.starts_with(mark)) {
    text.erase(0, mark.size());
    --stripsLeft;
  }
  if (!text.empty()) {
    stripsLeft = 0;
  }
  pending += text;
  return takeWhole();
}

std::string IncrementalDecoder::takeWhole() {
  std::string_view rest = pending;
  std::string out;
  while (!rest.empty()) {
    Utf8Step step = nextUtf8(rest);
    if (step.incomplete) {
      break;
    }
    if (step.valid) {
      out += rest.substr(0, step.length);
    } else {
      out += "\xEF\xBF\xBD";
    }
    rest.remove_prefix(step.length);
  }
  pending.erase(0, pending.size() - rest.size());
  return out;
}

std::string IncrementalDecoder::finish() {
  std::string out;
  appendLossyUtf8(out, pending);
  pending.clear();
  return out;
}

} // namespace quire
