// The ways in which vocabularies write bytes down: SentencePiece's <0xNN>
// pieces and the printable alphabet of byte-level BPE. Pure functions.

#ifndef QUIRE_RUNTIME_TEXT_PIECETEXT_H
#define QUIRE_RUNTIME_TEXT_PIECETEXT_H

#include <optional>
#include <string>
#include <string_view>

namespace quire {

/// The byte that a piece such as <0x0A> stands for.
std::optional<unsigned char> parseBytePiece(std::string_view piece);

/// Byte-level BPE writes each byte as one printable character (a space as
/// "Ġ"); nothing when some character is not of that alphabet.
std::optional<std::string> fromByteAlphabet(std::string_view piece);

/// `text` with every `from` (not empty) replaced.
std::string replaceAll(std::string_view text, std::string_view from,
                       std::string_view to);

} // namespace quire

#endif
