// A SentencePiece tokenizer.model: a protobuf message of which few fields
// matter, so they are read straight from the wire format. Field numbers follow
// sentencepiece_model.proto.

#include "frontends/formats/StrCat.h"
#include "runtime/text/Importers.h"

#include <cstring>
#include <functional>

namespace quire {

namespace {

/// One field of a message: a number, or bytes.
struct WireField {
  uint32_t number = 0;
  uint64_t value = 0;
  std::string_view bytes;
};

class WireReader {
public:
  explicit WireReader(std::string_view bytes) : rest(bytes) {}

  /// False at the end, or when the bytes are no message (then `damaged`).
  bool next(WireField &field) {
    uint64_t tag = 0;
    if (rest.empty() || !varint(tag)) {
      return false;
    }
    field = {static_cast<uint32_t>(tag >> 3), 0, {}};
    switch (tag & 7) {
    case 0:
      return varint(field.value);
    case 1:
      return fixed(8, field.value);
    case 2: {
      uint64_t size = 0;
      if (!varint(size) || size > rest.size()) {
        return fail();
      }
      field.bytes = rest.substr(0, size);
      rest.remove_prefix(size);
      return true;
    }
    case 5:
      return fixed(4, field.value);
    default:
      return fail();
    }
  }
  bool damaged = false;

private:
  std::string_view rest;

  bool fail() {
    damaged = true;
    return false;
  }
  bool varint(uint64_t &value) {
    value = 0;
    for (int shift = 0; shift < 64 && !rest.empty(); shift += 7) {
      auto byte = static_cast<unsigned char>(rest[0]);
      rest.remove_prefix(1);
      value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) {
        return true;
      }
    }
    return fail();
  }
  bool fixed(size_t size, uint64_t &value) {
    if (rest.size() < size) {
      return fail();
    }
    value = 0;
    std::memcpy(&value, rest.data(), size);
    rest.remove_prefix(size);
    return true;
  }
};

/// Calls `each` for every field; false when the message is damaged.
bool forEachField(std::string_view message,
                  const std::function<void(const WireField &)> &each) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    each(field);
  }
  return !reader.damaged;
}

struct Trainer {
  int64_t modelType = 1;
  bool byteFallback = false, spaceAsSuffix = false;
  int64_t unknownId = 0, bosId = 1, endId = 2, padId = -1;
};

bool readPiece(std::string_view message, TokenizerData &data) {
  std::string_view text;
  float score = 0;
  uint64_t type = 1;
  bool fine = forEachField(message, [&](const WireField &field) {
    if (field.number == 1) {
      text = field.bytes;
    } else if (field.number == 2) {
      auto bits = static_cast<uint32_t>(field.value);
      std::memcpy(&score, &bits, sizeof score);
    } else if (field.number == 3) {
      type = field.value;
    }
  });
  if (!fine || type < 1 || type > 6) {
    return false;
  }
  auto id = static_cast<uint32_t>(data.pieces.size());
  auto kind = static_cast<PieceType>(type);
  data.pieces.push(text);
  data.scores.push_back(score);
  data.types.push_back(kind);
  if (kind == PieceType::Control || kind == PieceType::Unknown) {
    data.added.push_back({id, AddedSpecial});
  } else if (kind == PieceType::UserDefined) {
    data.added.push_back({id, AddedNormalized | AddedVerbatim});
  }
  return true;
}

bool readTrainer(std::string_view message, Trainer &out) {
  return forEachField(message, [&](const WireField &field) {
    auto value = static_cast<int32_t>(field.value);
    switch (field.number) {
    case 3:
      out.modelType = value;
      break;
    case 24:
      out.spaceAsSuffix = value != 0;
      break;
    case 35:
      out.byteFallback = value != 0;
      break;
    case 40:
      out.unknownId = value;
      break;
    case 41:
      out.bosId = value;
      break;
    case 42:
      out.endId = value;
      break;
    case 43:
      out.padId = value;
      break;
    default:
      break;
    }
  });
}

bool readRules(std::string_view message, SentencePieceRules &out,
               bool &escapesSpaces) {
  return forEachField(message, [&](const WireField &field) {
    if (field.number == 2) {
      out.charsMap = field.bytes;
    } else if (field.number == 3) {
      out.dummyPrefix = field.value != 0;
    } else if (field.number == 4) {
      out.removeExtraSpaces = field.value != 0;
    } else if (field.number == 5) {
      escapesSpaces = field.value != 0;
    }
  });
}

} // namespace

absl::StatusOr<TokenizerData> readSentencePiece(std::string_view bytes) {
  TokenizerData data;
  Trainer trainer;
  SentencePieceRules rules{"", true, true};
  bool escapesSpaces = true, fine = true;
  fine &= forEachField(bytes, [&](const WireField &field) {
    if (field.number == 1) {
      fine &= readPiece(field.bytes, data);
    } else if (field.number == 2) {
      fine &= readTrainer(field.bytes, trainer);
    } else if (field.number == 3) {
      fine &= readRules(field.bytes, rules, escapesSpaces);
    }
  });
  if (!fine || data.pieces.size() == 0) {
    return absl::InvalidArgumentError(
        "it is not a SentencePiece model, or it is damaged");
  }
  if (trainer.modelType != 1 && trainer.modelType != 2) {
    return absl::UnimplementedError(
        strCat("its model type is ", trainer.modelType,
               "; known are 1 (Unigram) and 2 (BPE)"));
  }
  if (trainer.spaceAsSuffix || !escapesSpaces) {
    return absl::UnimplementedError(
        "it puts the mark for a space behind words or nowhere, which is not "
        "supported");
  }
  data.model = trainer.modelType == 1 ? PieceModelKind::Unigram
                                      : PieceModelKind::ScoreBpe;
  data.byteFallback = trainer.byteFallback;
  data.fuseUnknown = data.floatScores = true;
  auto checked = [&](int64_t id) {
    bool there = id >= 0 && id < static_cast<int64_t>(data.pieces.size());
    return there ? static_cast<TokenId>(id) : -1;
  };
  data.unknownId = checked(trainer.unknownId);
  data.bosId = checked(trainer.bosId);
  data.padId = checked(trainer.padId);
  addEndId(data, checked(trainer.endId));
  applySentencePieceRules(rules, data);
  return data;
}

} // namespace quire
