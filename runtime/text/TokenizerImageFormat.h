// The layout of a tokenizer file, shared by its writer and its reader and by
// nothing else.

#ifndef QUIRE_RUNTIME_TEXT_TOKENIZERIMAGEFORMAT_H
#define QUIRE_RUNTIME_TEXT_TOKENIZERIMAGEFORMAT_H

#include "runtime/text/TokenizerData.h"

#include "absl/status/statusor.h"
#include "xxhash.h"

#include <bit>
#include <string_view>

namespace quire::image {

static_assert(std::endian::native == std::endian::little);

enum Section : uint32_t {
  Settings,
  Pool,
  Offsets,
  Types,
  Scores,
  Merges,
  PieceTable, // open addressing: id + 1, or 0 for free
  MergeTable, // open addressing: rank + 1, or 0 for free
  ByteIds,
  Added,
  SortedPieces,
  SectionCount,
};

inline constexpr char Magic[8] = {'Q', 'U', 'I', 'R', 'E', 'T', 'O', 'K'};
inline constexpr uint32_t Version = 1;

struct SectionEntry {
  uint64_t offset = 0, bytes = 0;
};

struct Header {
  char magic[8];
  uint32_t version = Version;
  uint32_t sectionCount = SectionCount;
  uint64_t fileBytes = 0;
  uint64_t checksum = 0; // XXH3 of all that follows the header
  SectionEntry sections[SectionCount];
};

inline uint64_t hashText(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

inline uint64_t hashPair(uint32_t left, uint32_t right) {
  uint64_t key = (uint64_t{left} << 32 | right) * 0x9E3779B97F4A7C15u;
  return key ^ key >> 32;
}

/// Slots for so many entries: a power of two, at most half full.
inline size_t tableSlots(size_t entries) {
  return std::bit_ceil(2 * entries + 2);
}

std::string writeSettings(const TokenizerData &data);
absl::StatusOr<TokenizerData> readSettings(std::string_view bytes);

} // namespace quire::image

#endif
