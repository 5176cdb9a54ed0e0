#include "frontends/formats/SafetensorsFile.h"

#include "frontends/formats/ByteReader.h"
#include "frontends/formats/Json.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"

#include <algorithm>
#include <tuple>

using nlohmann::json;

namespace quire {

namespace {

/// The format's own limit for the header.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

struct DType {
  std::string_view name;
  NumberFormat format;
};
constexpr DType kDTypes[] = {
    {"F32", NumberFormat::F32},        {"F16", NumberFormat::F16},
    {"BF16", NumberFormat::BF16},      {"F64", NumberFormat::F64},
    {"I8", NumberFormat::I8},          {"I16", NumberFormat::I16},
    {"I32", NumberFormat::I32},        {"I64", NumberFormat::I64},
    {"U8", NumberFormat::U8},          {"BOOL", NumberFormat::Bool},
    {"F8_E4M3", NumberFormat::F8E4M3}, {"F8_E5M2", NumberFormat::F8E5M2},
};

absl::StatusOr<NumberFormat> parseDType(const json &entry) {
  absl::StatusOr<std::string> name = getString(entry, "dtype");
  if (!name.ok()) {
    return name.status();
  }
  for (const DType &known : kDTypes) {
    if (known.name == *name) {
      return known.format;
    }
  }
  return absl::InvalidArgumentError(
      strCat("the dtype '", printable(*name), "' is not supported"));
}

/// A list of non-negative integers.
absl::StatusOr<std::vector<int64_t>> parseSizes(const json &entry,
                                                std::string_view field) {
  absl::StatusOr<const json *> list = getArray(entry, field);
  if (!list.ok()) {
    return list.status();
  }
  std::vector<int64_t> sizes;
  for (const json &value : **list) {
    if (!value.is_number_unsigned() ||
        value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
      return absl::InvalidArgumentError(strCat(
          "the field '", field, "' must hold integers from 0 to 2^63 - 1"));
    }
    sizes.push_back(value.get<int64_t>());
  }
  return sizes;
}

/// One entry of the header; `data` is what follows the header.
absl::StatusOr<TensorView> parseTensor(const std::string &name,
                                       const json &entry,
                                       std::span<const std::byte> data) {
  if (!entry.is_object()) {
    return absl::InvalidArgumentError("its entry is not an object");
  }
  absl::StatusOr<NumberFormat> format = parseDType(entry);
  if (!format.ok()) {
    return format.status();
  }
  absl::StatusOr<std::vector<int64_t>> shape = parseSizes(entry, "shape");
  if (!shape.ok()) {
    return shape.status();
  }
  absl::StatusOr<std::vector<int64_t>> offsets =
      parseSizes(entry, "data_offsets");
  if (!offsets.ok()) {
    return offsets.status();
  }
  if (offsets->size() != 2) {
    return absl::InvalidArgumentError(
        "the field 'data_offsets' must hold two integers");
  }
  int64_t begin = (*offsets)[0];
  int64_t end = (*offsets)[1];
  if (begin > end || static_cast<uint64_t>(end) > data.size()) {
    return absl::InvalidArgumentError(strCat("its bytes [", begin, ", ", end,
                                             ") are not within the ",
                                             data.size(), " bytes of data"));
  }
  absl::StatusOr<int64_t> bytes = tensorBytes(*format, *shape);
  if (!bytes.ok()) {
    return bytes.status();
  }
  if (*bytes != end - begin) {
    return absl::InvalidArgumentError(strCat(
        "the shape ", shapeText(*shape), " in ", numberFormatName(*format),
        " takes ", *bytes, " bytes, but its offsets span ", end - begin));
  }
  return TensorView{name, *format, *std::move(shape),
                    data.subspan(begin, *bytes)};
}

absl::Status checkFreeText(const json &metadata) {
  bool good = metadata.is_object() &&
              std::all_of(metadata.begin(), metadata.end(),
                          [](const json &value) { return value.is_string(); });
  return good ? absl::OkStatus()
              : absl::InvalidArgumentError(
                    "'__metadata__' must be an object of strings");
}

/// Disjoint tensors cover the data when their sizes add up to it.
absl::Status checkCovered(std::span<const TensorView> tensors, size_t data) {
  size_t covered = 0;
  for (const TensorView &tensor : tensors) {
    covered += tensor.bytes.size();
  }
  if (covered != data) {
    return absl::InvalidArgumentError(
        strCat("the tensors cover ", covered, " of the ", data,
               " bytes of data; the file is damaged, so fetch it again"));
  }
  return absl::OkStatus();
}

/// The JSON text of the header, of a file that may be anything.
absl::StatusOr<std::string_view> headerText(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  uint64_t length = 0;
  if (!reader.read(length)) {
    return absl::InvalidArgumentError(
        "it is too short for a safetensors file; fetch it again");
  }
  if (length > kMaxHeaderBytes) {
    return absl::InvalidArgumentError(
        strCat("it is not a safetensors file, or damaged: its header "
               "claims ",
               length, " bytes, but the format allows ", kMaxHeaderBytes));
  }
  std::span<const std::byte> text;
  if (!reader.take(length, text)) {
    return absl::InvalidArgumentError(strCat(
        "its header claims ", length, " bytes, but only ", reader.remaining(),
        " follow; the file is truncated or damaged, so fetch it again"));
  }
  return std::string_view{reinterpret_cast<const char *>(text.data()),
                          text.size()};
}

absl::StatusOr<std::vector<TensorView>>
parseTensors(const json &header, std::span<const std::byte> data) {
  std::vector<TensorView> tensors;
  for (const auto &[name, entry] : header.items()) {
    if (name == "__metadata__") {
      continue;
    }
    absl::StatusOr<TensorView> tensor = parseTensor(name, entry, data);
    if (!tensor.ok()) {
      return absl::Status(tensor.status().code(),
                          strCat("the tensor '", printable(name),
                                 "': ", tensor.status().message()));
    }
    tensors.push_back(*std::move(tensor));
  }
  if (tensors.size() > kMaxTensors) {
    return absl::InvalidArgumentError(
        strCat("more than ", kMaxTensors, " tensors in one file"));
  }
  // In the order of the file, so that whoever reads all reads forward.
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorView &a, const TensorView &b) {
              return std::tuple(a.bytes.data(), a.bytes.size(),
                                std::string_view(a.name)) <
                     std::tuple(b.bytes.data(), b.bytes.size(),
                                std::string_view(b.name));
            });
  absl::Status status = checkDisjoint(tensors);
  if (status.ok()) {
    status = checkCovered(tensors, data.size());
  }
  if (!status.ok()) {
    return status;
  }
  return tensors;
}

} // namespace

absl::StatusOr<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  absl::StatusOr<MappedFile> mapping = MappedFile::open(path);
  if (!mapping.ok()) {
    return mapping.status();
  }
  absl::StatusOr<std::string_view> text = headerText(mapping->bytes());
  if (!text.ok()) {
    return inFile(path, text.status());
  }
  absl::StatusOr<json> header = parseJson(*text, path);
  if (!header.ok()) {
    return header.status();
  }
  if (!header->is_object()) {
    return inFile(
        path, absl::InvalidArgumentError("its header is not a JSON object"));
  }
  SafetensorsFile opened(*std::move(mapping));
  if (auto metadata = header->find("__metadata__");
      metadata != header->end() && !metadata->is_null()) {
    if (absl::Status status = checkFreeText(*metadata); !status.ok()) {
      return inFile(path, status);
    }
    opened.freeText = *metadata;
  }
  absl::StatusOr<std::vector<TensorView>> tensors = parseTensors(
      *header, opened.mapping.bytes().subspan(sizeof(uint64_t) + text->size()));
  if (!tensors.ok()) {
    return inFile(path, tensors.status());
  }
  absl::StatusOr<TensorTable> table = TensorTable::build(*std::move(tensors));
  if (!table.ok()) {
    return inFile(path, table.status());
  }
  opened.table = *std::move(table);
  return opened;
}

} // namespace quire
