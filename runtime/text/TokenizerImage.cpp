#include "runtime/text/TokenizerImage.h"
#include "frontends/formats/StrCat.h"
#include "runtime/text/TokenizerImageFormat.h"

#include <algorithm>
#include <cstring>
#include <fstream>

namespace quire {

using namespace image;

absl::StatusOr<std::shared_ptr<const TokenizerImage>>
TokenizerImage::open(const std::string &path) {
  absl::StatusOr<MappedFile> file = MappedFile::open(path);
  if (!file.ok()) {
    return file.status();
  }
  std::shared_ptr<TokenizerImage> image(new TokenizerImage);
  image->mapped = std::move(*file);
  absl::Status status = image->bind(image->mapped->text());
  if (!status.ok()) {
    return absl::Status(status.code(),
                        strCat("the tokenizer file ", path, " cannot be used: ",
                               status.message(), "; compile the engine again"));
  }
  return image;
}

absl::Status TokenizerImage::save(const std::string &path) const {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) {
    return absl::UnavailableError(
        strCat("cannot write the tokenizer file ", path));
  }
  return absl::OkStatus();
}

template <typename T>
static bool bindSection(std::string_view bytes, const SectionEntry &entry,
                        std::span<const T> &out) {
  if (entry.offset > bytes.size() ||
      entry.bytes > bytes.size() - entry.offset || entry.offset % 8 != 0 ||
      entry.bytes % sizeof(T) != 0) {
    return false;
  }
  out = {reinterpret_cast<const T *>(bytes.data() + entry.offset),
         entry.bytes / sizeof(T)};
  return true;
}

absl::Status TokenizerImage::bind(std::string_view block) {
  bytes = block;
  Header header;
  if (bytes.size() < sizeof header) {
    return absl::DataLossError("it is too short");
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, Magic, sizeof Magic) != 0) {
    return absl::InvalidArgumentError("it is not a Quire tokenizer");
  }
  if (header.version != Version || header.sectionCount != SectionCount) {
    return absl::FailedPreconditionError(
        strCat("it has version ", header.version,
               " and this program reads version ", Version));
  }
  if (header.fileBytes != bytes.size() ||
      header.checksum != hashText(bytes.substr(sizeof header))) {
    return absl::DataLossError("it is cut short or its checksum is wrong");
  }
  const SectionEntry *at = header.sections;
  std::span<const char> settings, text;
  if (!bindSection(bytes, at[Settings], settings) ||
      !bindSection(bytes, at[Pool], text) ||
      !bindSection(bytes, at[Offsets], offsets) ||
      !bindSection(bytes, at[Types], types) ||
      !bindSection(bytes, at[Scores], scores) ||
      !bindSection(bytes, at[Merges], merges) ||
      !bindSection(bytes, at[PieceTable], pieceTable) ||
      !bindSection(bytes, at[MergeTable], mergeTable) ||
      !bindSection(bytes, at[ByteIds], byteIds) ||
      !bindSection(bytes, at[Added], addedTokens) ||
      !bindSection(bytes, at[SortedPieces], sorted)) {
    return absl::DataLossError("a section lies outside the file");
  }
  pool = {text.data(), text.size()};
  absl::StatusOr<TokenizerData> read =
      readSettings({settings.data(), settings.size()});
  if (!read.ok()) {
    return read.status();
  }
  rules = std::move(*read);
  return checkBounds();
}

/// A hash table is searchable when its size is a power of two, it has a free
/// slot, and every entry points at something.
static bool tableFits(std::span<const uint32_t> table, size_t entries) {
  bool hasFree = false;
  for (uint32_t entry : table) {
    hasFree |= entry == 0;
    if (entry > entries) {
      return false;
    }
  }
  return hasFree && std::has_single_bit(table.size());
}

absl::Status TokenizerImage::checkBounds() {
  size_t count = types.size();
  auto isId = [&](auto id) { return static_cast<uint64_t>(id) < count; };
  auto isIdOrNone = [&](TokenId id) { return id == -1 || isId(id); };
  bool fits = count > 0 && offsets.size() == count + 1 && offsets[0] == 0 &&
              offsets[count] == pool.size() && byteIds.size() == 256 &&
              std::is_sorted(offsets.begin(), offsets.end()) &&
              (scores.size() == count ||
               (scores.empty() && rules.model == PieceModelKind::RankBpe)) &&
              tableFits(pieceTable, count) &&
              tableFits(mergeTable, merges.size());
  for (const MergeRule &rule : merges) {
    fits = fits && isId(rule.left) && isId(rule.right) && isId(rule.merged);
  }
  for (const AddedToken &token : addedTokens) {
    fits = fits && isId(token.id);
  }
  fits = fits && std::all_of(sorted.begin(), sorted.end(), isId) &&
         std::all_of(byteIds.begin(), byteIds.end(), isIdOrNone);
  for (const auto *ids : {&rules.prefixIds, &rules.suffixIds, &rules.endIds}) {
    fits = fits && std::all_of(ids->begin(), ids->end(), isId);
  }
  fits = fits && isIdOrNone(rules.bosId) && isIdOrNone(rules.unknownId) &&
         isIdOrNone(rules.padId);
  if (!fits) {
    return absl::DataLossError("an id or an offset points outside its table");
  }
  for (size_t id = 0; id < count; ++id) {
    longest = std::max<size_t>(longest, offsets[id + 1] - offsets[id]);
  }
  return absl::OkStatus();
}

TokenId TokenizerImage::find(std::string_view text) const {
  size_t mask = pieceTable.size() - 1;
  for (size_t slot = hashText(text) & mask; pieceTable[slot] != 0;
       slot = (slot + 1) & mask) {
    uint32_t id = pieceTable[slot] - 1;
    if (piece(id) == text) {
      return static_cast<TokenId>(id);
    }
  }
  return -1;
}

std::optional<TokenizerImage::Merge>
TokenizerImage::findMerge(uint32_t left, uint32_t right) const {
  size_t mask = mergeTable.size() - 1;
  for (size_t slot = hashPair(left, right) & mask; mergeTable[slot] != 0;
       slot = (slot + 1) & mask) {
    const MergeRule &rule = merges[mergeTable[slot] - 1];
    if (rule.left == left && rule.right == right) {
      return Merge{mergeTable[slot] - 1, rule.merged};
    }
  }
  return std::nullopt;
}

} // namespace quire
