#include "runtime/text/PieceText.h"
#include "runtime/text/Utf8.h"

#include <array>

namespace quire {

std::optional<unsigned char> parseBytePiece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') {
    return std::nullopt;
  }
  int value = 0;
  for (char c : piece.substr(3, 2)) {
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                       : -1;
    if (digit < 0) {
      return std::nullopt;
    }
    value = value * 16 + digit;
  }
  return static_cast<unsigned char>(value);
}

/// Code point to byte, -1 elsewhere. Bytes that are printable in Latin-1 are
/// themselves; the other 68 follow from U+0100 on, in order.
static std::array<int, 0x180> makeByteAlphabet() {
  std::array<int, 0x180> table;
  table.fill(-1);
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    bool printable = (byte >= 0x21 && byte <= 0x7E) ||
                     (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    table[static_cast<size_t>(printable ? byte : next++)] = byte;
  }
  return table;
}

std::optional<std::string> fromByteAlphabet(std::string_view piece) {
  static const std::array<int, 0x180> table = makeByteAlphabet();
  std::string bytes;
  while (!piece.empty()) {
    Utf8Step step = nextUtf8(piece);
    if (!step.valid || step.point >= table.size() || table[step.point] < 0) {
      return std::nullopt;
    }
    bytes += static_cast<char>(table[step.point]);
    piece.remove_prefix(step.length);
  }
  return bytes;
}

std::string replaceAll(std::string_view text, std::string_view from,
                       std::string_view to) {
  std::string out;
  out.reserve(text.size());
  for (size_t at; (at = text.find(from)) != text.npos;) {
    out += text.substr(0, at);
    out += to;
    text.remove_prefix(at + from.size());
  }
  out += text;
  return out;
}

} // namespace quire
