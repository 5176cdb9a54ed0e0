// Imported data into one block: checks that the parts fit each other, then
// lays out the sections and fills the hash tables.

#include "frontends/formats/StrCat.h"
#include "runtime/text/PieceText.h"
#include "runtime/text/TokenizerImage.h"
#include "runtime/text/TokenizerImageFormat.h"

#include <algorithm>
#include <cstring>

namespace quire {

using namespace image;

static absl::Status checkFits(const TokenizerData &data) {
  size_t count = data.pieces.size();
  if (count == 0 || count > size_t{1} << 28) {
    return absl::InvalidArgumentError(
        strCat("the tokenizer has ", count, " pieces; expected 1 to 2^28"));
  }
  if (data.pieces.pool.size() > UINT32_MAX) {
    return absl::InvalidArgumentError(
        "the tokenizer's pieces take more than 4 GB together");
  }
  bool scored = data.model != PieceModelKind::RankBpe;
  if (data.types.size() != count || (scored && data.scores.size() != count)) {
    return absl::InvalidArgumentError(strCat(
        "the tokenizer has ", count, " pieces, ", data.types.size(),
        " types and ", data.scores.size(), " scores; they must be as many"));
  }
  return absl::OkStatus();
}

static std::vector<uint32_t> makePieceTable(const TokenizerData &data) {
  size_t entries = 0;
  for (PieceType type : data.types) {
    entries += data.isModelPiece(type);
  }
  std::vector<uint32_t> table(tableSlots(entries));
  size_t mask = table.size() - 1;
  for (size_t id = 0; id < data.types.size(); ++id) {
    std::string_view text = data.pieces[id];
    if (!data.isModelPiece(data.types[id]) || text.empty()) {
      continue;
    }
    size_t slot = hashText(text) & mask;
    while (table[slot] != 0 && data.pieces[table[slot] - 1] != text) {
      slot = (slot + 1) & mask;
    }
    if (table[slot] == 0) { // of two equal pieces the first is meant
      table[slot] = static_cast<uint32_t>(id + 1);
    }
  }
  return table;
}

static std::vector<uint32_t> makeMergeTable(const TokenizerData &data) {
  std::vector<uint32_t> table(tableSlots(data.merges.size()));
  size_t mask = table.size() - 1;
  for (size_t rank = 0; rank < data.merges.size(); ++rank) {
    const MergeRule &rule = data.merges[rank];
    size_t slot = hashPair(rule.left, rule.right) & mask;
    auto taken = [&] {
      const MergeRule &other = data.merges[table[slot] - 1];
      return other.left != rule.left || other.right != rule.right;
    };
    while (table[slot] != 0 && taken()) {
      slot = (slot + 1) & mask;
    }
    // A rule written twice has the rank of its last line.
    table[slot] = static_cast<uint32_t>(rank + 1);
  }
  return table;
}

static std::vector<TokenId> makeByteIds(const TokenizerData &data) {
  std::vector<TokenId> ids(256, -1);
  for (size_t id = 0; id < data.types.size(); ++id) {
    if (data.types[id] != PieceType::Byte) {
      continue;
    }
    if (auto byte = parseBytePiece(data.pieces[id])) {
      ids[*byte] = static_cast<TokenId>(id);
    }
  }
  return ids;
}

static std::vector<uint32_t> sortPieces(const TokenizerData &data) {
  std::vector<uint32_t> ids;
  if (data.model == PieceModelKind::Unigram) {
    for (size_t id = 0; id < data.types.size(); ++id) {
      if (data.isModelPiece(data.types[id]) && !data.pieces[id].empty()) {
        ids.push_back(static_cast<uint32_t>(id));
      }
    }
    std::ranges::sort(ids, [&](uint32_t a, uint32_t b) {
      return std::pair(data.pieces[a], a) < std::pair(data.pieces[b], b);
    });
    auto same = [&](uint32_t a, uint32_t b) {
      return data.pieces[a] == data.pieces[b];
    };
    ids.erase(std::unique(ids.begin(), ids.end(), same), ids.end());
  }
  return ids;
}

static std::vector<AddedToken> sortAdded(const TokenizerData &data) {
  std::vector<AddedToken> added = data.added;
  std::erase_if(added, [&](const AddedToken &token) {
    return token.id >= data.pieces.size() || data.pieces[token.id].empty();
  });
  std::ranges::sort(added, [&](const AddedToken &a, const AddedToken &b) {
    return std::pair(data.pieces[a.id], a.id) <
           std::pair(data.pieces[b.id], b.id);
  });
  return added;
}

namespace {

struct Layout {
  Header header{};
  std::string bytes = std::string(sizeof(Header), '\0');

  template <typename T> void add(Section section, const T &items) {
    bytes.resize((bytes.size() + 7) & ~size_t{7});
    size_t size = items.size() * sizeof(*items.data());
    header.sections[section] = {bytes.size(), size};
    bytes.append(reinterpret_cast<const char *>(items.data()), size);
  }

  std::string finish() {
    std::memcpy(header.magic, Magic, sizeof Magic);
    header.fileBytes = bytes.size();
    header.checksum = hashText(std::string_view(bytes).substr(sizeof(Header)));
    std::memcpy(bytes.data(), &header, sizeof header);
    return std::move(bytes);
  }
};

} // namespace

absl::StatusOr<std::shared_ptr<const TokenizerImage>>
TokenizerImage::pack(const TokenizerData &data) {
  if (absl::Status status = checkFits(data); !status.ok()) {
    return status;
  }
  Layout layout;
  layout.bytes.reserve(data.pieces.pool.size() + data.pieces.size() * 24 +
                       data.merges.size() * 32 + (1 << 16));
  layout.add(Settings, writeSettings(data));
  layout.add(Pool, data.pieces.pool);
  layout.add(Offsets, data.pieces.offsets);
  layout.add(Types, data.types);
  layout.add(Scores, data.scores);
  layout.add(Merges, data.merges);
  layout.add(PieceTable, makePieceTable(data));
  layout.add(MergeTable, makeMergeTable(data));
  layout.add(ByteIds, makeByteIds(data));
  layout.add(Added, sortAdded(data));
  layout.add(SortedPieces, sortPieces(data));
  std::shared_ptr<TokenizerImage> image(new TokenizerImage);
  image->owned = layout.finish();
  if (absl::Status status = image->bind(image->owned); !status.ok()) {
    return absl::Status(status.code(),
                        strCat("the tokenizer is damaged: ", status.message()));
  }
  return image;
}

} // namespace quire
