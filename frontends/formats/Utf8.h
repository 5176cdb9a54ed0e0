// Text from files on its way into messages and JSON documents. Pure
// functions; any thread.

#ifndef QUIRE_FRONTENDS_FORMATS_UTF8_H
#define QUIRE_FRONTENDS_FORMATS_UTF8_H

#include <string>
#include <string_view>

namespace quire {

bool isValidUtf8(std::string_view text);

/// `text` with each byte that is not part of a valid UTF-8 character replaced
/// by U+FFFD.
std::string toValidUtf8(std::string_view text);

/// For quoting in a message: valid UTF-8, control characters as \xNN, cut
/// after 80 bytes.
std::string printable(std::string_view text);

/// The same without the cut: a whole message, whatever it quotes, as one line.
std::string oneLine(std::string_view text);

} // namespace quire

#endif
