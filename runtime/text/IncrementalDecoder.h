// Ids to text one at a time, for streaming. Text comes out in whole characters:
// the bytes of a character that is split over tokens wait for the rest, and
// what never becomes one turns into U+FFFD. All that was handed out plus
// finish() equals Tokenizer::decode of the same ids, which is built on this.
// One per stream; not shared between threads. The tokenizer must outlive it.

#ifndef QUIRE_RUNTIME_TEXT_INCREMENTALDECODER_H
#define QUIRE_RUNTIME_TEXT_INCREMENTALDECODER_H

#include "runtime/text/Tokenizer.h"

namespace quire {

class IncrementalDecoder {
public:
  explicit IncrementalDecoder(const Tokenizer &tokenizer,
                              DecodeOptions options = {});

  /// The text this id completes, perhaps none.
  std::string push(TokenId id);
  /// What is left when the ids end: a cut character as one U+FFFD.
  std::string finish();

private:
  std::string takeWhole();

  const Tokenizer *tokenizer;
  bool skipSpecial;
  bool first;          // no piece seen yet
  uint32_t stripsLeft; // marks still to drop at the start of the text
  std::string pending;
};

} // namespace quire

#endif
