// The reading half of GgufMetadata: everything here faces bytes that may say
// anything. Nothing is allocated from a count; memory grows only as entries
// are found in the file.

#include "frontends/formats/GgufMetadata.h"

#include "frontends/formats/GgufRead.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"

namespace quire {

/// Real files have below a hundred keys.
static constexpr uint64_t kMaxEntries = 4096;
/// Real vocabularies end below 2^19 entries.
static constexpr uint64_t kMaxElements = 1u << 24;

absl::Status ggufEnds(std::string_view inside) {
  return absl::InvalidArgumentError(
      strCat("the file ends inside ", inside,
             "; it is truncated or damaged, so fetch it again"));
}

absl::StatusOr<std::string> readGgufName(ByteReader &reader,
                                         std::string_view what) {
  uint64_t length = 0;
  std::span<const std::byte> bytes;
  if (!reader.read(length) || !reader.take(length, bytes)) {
    return ggufEnds(strCat(what, " name"));
  }
  std::string_view name{reinterpret_cast<const char *>(bytes.data()),
                        bytes.size()};
  // The format's own limit for keys; tensor names stay below 64 in practice.
  if (name.empty() || name.size() > 65535 || !isValidUtf8(name)) {
    return absl::InvalidArgumentError(strCat(
        "a ", what, " name is empty, longer than 65535 bytes or not UTF-8: '",
        printable(name), "'"));
  }
  return std::string(name);
}

static bool isKnown(GgufType type) { return type <= GgufType::F64; }

/// Reads what follows the type of one entry. On error the status speaks of
/// the value alone.
static absl::StatusOr<GgufValue> readValue(ByteReader &reader, GgufType type) {
  GgufValue value;
  value.type = type;
  if (type == GgufType::String) {
    uint64_t length = 0;
    if (!reader.read(length) || !reader.take(length, value.bytes)) {
      return ggufEnds("a string");
    }
    return value;
  }
  if (type != GgufType::Array) {
    if (!reader.take(ggufTypeBytes(type), value.bytes)) {
      return ggufEnds("a number");
    }
    return value;
  }
  uint32_t element = 0;
  if (!reader.read(element) || !reader.read(value.count)) {
    return ggufEnds("the head of an array");
  }
  value.elementType = static_cast<GgufType>(element);
  if (!isKnown(value.elementType) || value.elementType == GgufType::Array) {
    return absl::InvalidArgumentError(
        strCat("arrays of type number ", element, " are not read"));
  }
  if (value.count > kMaxElements) {
    return absl::InvalidArgumentError(strCat("an array of ", value.count,
                                             " elements; at most ",
                                             kMaxElements, " are read"));
  }
  if (value.elementType != GgufType::String) {
    // At most 2^24 * 8: no overflow.
    if (!reader.take(value.count * ggufTypeBytes(value.elementType),
                     value.bytes)) {
      return ggufEnds("an array");
    }
    return value;
  }
  ByteReader ahead = reader;
  for (uint64_t i = 0; i < value.count; ++i) {
    uint64_t length = 0;
    std::span<const std::byte> text;
    if (!ahead.read(length) || !ahead.take(length, text)) {
      return ggufEnds("an array of strings");
    }
  }
  if (!reader.take(ahead.position() - reader.position(), value.bytes)) {
    return ggufEnds("an array of strings");
  }
  return value;
}

absl::StatusOr<GgufMetadata> GgufMetadata::read(ByteReader &reader,
                                                uint64_t count) {
  if (count > kMaxEntries) {
    return absl::InvalidArgumentError(strCat("the header announces ", count,
                                             " metadata entries; at most ",
                                             kMaxEntries, " are read"));
  }
  GgufMetadata metadata;
  for (uint64_t i = 0; i < count; ++i) {
    absl::StatusOr<std::string> key = readGgufName(reader, "metadata");
    if (!key.ok()) {
      return key.status();
    }
    uint32_t type = 0;
    if (!reader.read(type)) {
      return ggufEnds(strCat("the metadata '", printable(*key), "'"));
    }
    if (!isKnown(static_cast<GgufType>(type))) {
      return absl::InvalidArgumentError(strCat(
          "the metadata '", printable(*key), "' has the unknown type ", type));
    }
    absl::StatusOr<GgufValue> value =
        readValue(reader, static_cast<GgufType>(type));
    if (!value.ok()) {
      return absl::Status(value.status().code(),
                          strCat("the metadata '", printable(*key),
                                 "': ", value.status().message()));
    }
    if (!metadata.values.emplace(*std::move(key), *value).second) {
      return absl::InvalidArgumentError(
          strCat("the metadata '", printable(*key), "' is there twice"));
    }
  }
  return metadata;
}

} // namespace quire
