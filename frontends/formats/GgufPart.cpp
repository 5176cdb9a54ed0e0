#include "frontends/formats/GgufRead.h"

#include "frontends/formats/Json.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/TensorTable.h"
#include "frontends/formats/Utf8.h"

#include <algorithm>
#include <bit>

namespace quire {

namespace {

struct Header {
  uint64_t tensorCount = 0;
  uint64_t metadataCount = 0;
};

/// A tensor before its bytes are known: they are counted from the end of all
/// descriptions.
struct Placed {
  TensorView view;
  uint64_t offset = 0;
  int64_t bytes = 0;
};

absl::StatusOr<Header> readHeader(ByteReader &reader) {
  constexpr uint32_t magic = 0x46554747; // "GGUF"
  uint32_t found = 0;
  if (!reader.read(found) || found != magic) {
    return absl::InvalidArgumentError(
        "it is not a GGUF file: it does not begin with 'GGUF'");
  }
  uint32_t version = 0;
  if (!reader.read(version)) {
    return ggufEnds("the header");
  }
  if (version != 2 && version != 3) {
    bool isBigEndian = (version & 0xFFFF) == 0 && version != 0;
    return absl::InvalidArgumentError(
        isBigEndian
            ? "it is a big-endian GGUF file; convert it to little-endian"
            : strCat("it has GGUF version ", version,
                     "; versions 2 and 3 are read, so convert it"));
  }
  Header header;
  if (!reader.read(header.tensorCount) || !reader.read(header.metadataCount)) {
    return ggufEnds("the header");
  }
  if (header.tensorCount > kMaxTensors) {
    return absl::InvalidArgumentError(
        strCat("the header announces ", header.tensorCount,
               " tensors; at most ", kMaxTensors, " are read"));
  }
  return header;
}

absl::StatusOr<Placed> readDescription(ByteReader &reader) {
  absl::StatusOr<std::string> name = readGgufName(reader, "tensor");
  if (!name.ok()) {
    return name.status();
  }
  Placed placed;
  placed.view.name = *std::move(name);
  auto problem = [&](auto... parts) {
    return absl::InvalidArgumentError(
        strCat("the tensor '", printable(placed.view.name), "' ", parts...));
  };
  auto truncated = [&] {
    return ggufEnds(strCat("the description of the tensor '",
                           printable(placed.view.name), "'"));
  };
  uint32_t dimensions = 0;
  if (!reader.read(dimensions)) {
    return truncated();
  }
  if (dimensions > 4) {
    return problem("has ", dimensions, " dimensions; GGUF allows 4");
  }
  for (uint32_t i = 0; i < dimensions; ++i) {
    uint64_t dimension = 0;
    if (!reader.read(dimension)) {
      return truncated();
    }
    if (dimension > static_cast<uint64_t>(INT64_MAX)) {
      return problem("has a dimension of ", dimension);
    }
    placed.view.shape.push_back(static_cast<int64_t>(dimension));
  }
  // GGUF writes the innermost dimension first.
  std::reverse(placed.view.shape.begin(), placed.view.shape.end());
  uint32_t type = 0;
  if (!reader.read(type) || !reader.read(placed.offset)) {
    return truncated();
  }
  std::optional<NumberFormat> format = formatOfGgmlType(type);
  if (!format) {
    return problem("is stored in the GGML type ", ggmlTypeName(type),
                   ", which is not supported; convert the model to another");
  }
  placed.view.format = *format;
  absl::StatusOr<int64_t> bytes = tensorBytes(*format, placed.view.shape);
  if (!bytes.ok()) {
    return problem("is malformed: ", bytes.status().message());
  }
  placed.bytes = *bytes;
  return placed;
}

absl::StatusOr<uint64_t> readAlignment(const GgufMetadata &metadata) {
  constexpr std::string_view key = "general.alignment";
  if (!metadata.contains(key)) {
    return 32;
  }
  absl::StatusOr<int64_t> alignment = metadata.getInt(key, 1, 1 << 30);
  if (!alignment.ok()) {
    return alignment.status();
  }
  if (!std::has_single_bit(static_cast<uint64_t>(*alignment))) {
    return absl::InvalidArgumentError(strCat("the metadata key '", key, "' is ",
                                             *alignment,
                                             ", which is not a power of two"));
  }
  return static_cast<uint64_t>(*alignment);
}

/// Points the view at its bytes in `file`, whose data begin at `dataBegin`.
absl::Status attach(Placed &placed, std::span<const std::byte> file,
                    uint64_t dataBegin, uint64_t alignment) {
  std::string name = printable(placed.view.name);
  if (placed.offset % alignment != 0) {
    return absl::InvalidArgumentError(
        strCat("the tensor '", name, "' begins at ", placed.offset,
               ", not a multiple of the alignment ", alignment));
  }
  // Without tensor data the padding before it may be missing as well.
  uint64_t available = file.size() - std::min(dataBegin, file.size());
  if (placed.offset > available ||
      static_cast<uint64_t>(placed.bytes) > available - placed.offset) {
    return absl::InvalidArgumentError(
        strCat("the tensor '", name, "' wants ", placed.bytes, " bytes at ",
               placed.offset, ", but the file has ", available,
               " bytes of tensor data; it is truncated or damaged, so fetch it "
               "again"));
  }
  if (placed.bytes > 0) {
    placed.view.bytes = file.subspan(dataBegin + placed.offset, placed.bytes);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TensorView>>
readTensors(ByteReader &reader, std::span<const std::byte> file, uint64_t count,
            uint64_t alignment) {
  std::vector<Placed> placed;
  for (uint64_t i = 0; i < count; ++i) {
    absl::StatusOr<Placed> one = readDescription(reader);
    if (!one.ok()) {
      return one.status();
    }
    placed.push_back(*std::move(one));
  }
  uint64_t dataBegin = (reader.position() + alignment - 1) & ~(alignment - 1);
  std::vector<TensorView> tensors;
  tensors.reserve(placed.size());
  for (Placed &one : placed) {
    if (absl::Status status = attach(one, file, dataBegin, alignment);
        !status.ok()) {
      return status;
    }
    tensors.push_back(std::move(one.view));
  }
  if (absl::Status status = checkDisjoint(tensors); !status.ok()) {
    return status;
  }
  return tensors;
}

} // namespace

absl::StatusOr<GgufPart> openGgufPart(const std::string &path) {
  absl::StatusOr<MappedFile> file = MappedFile::open(path);
  if (!file.ok()) {
    return file.status();
  }
  ByteReader reader(file->bytes());
  absl::StatusOr<Header> header = readHeader(reader);
  if (!header.ok()) {
    return inFile(path, header.status());
  }
  absl::StatusOr<GgufMetadata> metadata =
      GgufMetadata::read(reader, header->metadataCount);
  if (!metadata.ok()) {
    return inFile(path, metadata.status());
  }
  absl::StatusOr<uint64_t> alignment = readAlignment(*metadata);
  if (!alignment.ok()) {
    return inFile(path, alignment.status());
  }
  absl::StatusOr<std::vector<TensorView>> tensors =
      readTensors(reader, file->bytes(), header->tensorCount, *alignment);
  if (!tensors.ok()) {
    return inFile(path, tensors.status());
  }
  return GgufPart{*std::move(file), *std::move(metadata), *std::move(tensors)};
}

} // namespace quire
