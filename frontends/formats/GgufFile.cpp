#include "frontends/formats/GgufFile.h"

#include "frontends/formats/GgufRead.h"
#include "frontends/formats/Json.h"
#include "frontends/formats/StrCat.h"

#include "absl/strings/str_format.h"

namespace quire {

namespace {

/// Which part of how many a file says it is; {0, 1} for a single file.
struct SplitPlace {
  int64_t part = 0;
  int64_t parts = 1;
};

absl::StatusOr<SplitPlace> splitPlace(const GgufMetadata &metadata) {
  SplitPlace place;
  if (!metadata.contains("split.count")) {
    return place;
  }
  // The file names have five digits. Zero is written for a single file.
  absl::StatusOr<int64_t> parts = metadata.getInt("split.count", 0, 99999);
  if (!parts.ok()) {
    return parts.status();
  }
  if (*parts <= 1) {
    return place;
  }
  absl::StatusOr<int64_t> part = metadata.getInt("split.no", 0, *parts - 1);
  if (!part.ok()) {
    return part.status();
  }
  return SplitPlace{*part, *parts};
}

/// Part numbers in file names begin at 1.
std::string splitSuffix(int64_t part, int64_t parts) {
  return absl::StrFormat("-%05d-of-%05d.gguf", part + 1, parts);
}

/// Appends the other parts' tensors and mappings. Messages name the file.
absl::Status joinParts(const std::string &firstPath, int64_t parts,
                       std::vector<MappedFile> &mappings,
                       std::vector<TensorView> &tensors) {
  std::string suffix = splitSuffix(0, parts);
  if (!firstPath.ends_with(suffix)) {
    return absl::InvalidArgumentError(
        strCat("'", firstPath, "' is the first of ", parts,
               " files, whose name must end in '", suffix,
               "' so that the others can be found; give it its name back"));
  }
  std::string stem = firstPath.substr(0, firstPath.size() - suffix.size());
  for (int64_t i = 1; i < parts; ++i) {
    std::string path = stem + splitSuffix(i, parts);
    absl::StatusOr<GgufPart> part = openGgufPart(path);
    if (!part.ok()) {
      return part.status();
    }
    absl::StatusOr<SplitPlace> place = splitPlace(part->metadata);
    if (!place.ok()) {
      return inFile(path, place.status());
    }
    if (place->part != i || place->parts != parts) {
      return absl::InvalidArgumentError(
          strCat("'", path, "' says that it is part ", place->part + 1, " of ",
                 place->parts, ", but its name says ", i + 1, " of ", parts));
    }
    mappings.push_back(std::move(part->file));
    tensors.insert(tensors.end(),
                   std::make_move_iterator(part->tensors.begin()),
                   std::make_move_iterator(part->tensors.end()));
    if (tensors.size() > kMaxTensors) {
      return absl::InvalidArgumentError(
          strCat("'", firstPath, "' and its other parts hold more than ",
                 kMaxTensors, " tensors"));
    }
  }
  return absl::OkStatus();
}

absl::Status checkTensorCount(const GgufMetadata &metadata, size_t found) {
  constexpr std::string_view key = "split.tensors.count";
  if (!metadata.contains(key)) {
    return absl::OkStatus();
  }
  absl::StatusOr<int64_t> wanted = metadata.getInt(key);
  if (!wanted.ok()) {
    return wanted.status();
  }
  if (*wanted != static_cast<int64_t>(found)) {
    return absl::InvalidArgumentError(
        strCat("the metadata key '", key, "' says ", *wanted,
               " tensors, but the files hold ", found));
  }
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<std::unique_ptr<GgufFile>>
GgufFile::open(const std::string &path) {
  absl::StatusOr<GgufPart> first = openGgufPart(path);
  if (!first.ok()) {
    return first.status();
  }
  absl::StatusOr<SplitPlace> place = splitPlace(first->metadata);
  if (!place.ok()) {
    return inFile(path, place.status());
  }
  if (place->part != 0) {
    return absl::InvalidArgumentError(strCat(
        "'", path, "' is part ", place->part + 1, " of a split checkpoint; ",
        "open the first, whose name ends in '", splitSuffix(0, place->parts),
        "'"));
  }
  std::unique_ptr<GgufFile> opened(new GgufFile());
  opened->firstPath = path;
  opened->firstMetadata = std::move(first->metadata);
  opened->mappings.push_back(std::move(first->file));
  std::vector<TensorView> tensors = std::move(first->tensors);
  if (place->parts > 1) {
    absl::Status joined =
        joinParts(path, place->parts, opened->mappings, tensors);
    if (joined.ok()) {
      joined =
          inFile(path, checkTensorCount(opened->firstMetadata, tensors.size()));
    }
    if (!joined.ok()) {
      return joined;
    }
  }
  absl::StatusOr<TensorTable> table = TensorTable::build(std::move(tensors));
  if (!table.ok()) {
    return inFile(path, table.status());
  }
  opened->table = *std::move(table);
  opened->json = opened->firstMetadata.toJson();
  return opened;
}

} // namespace quire
