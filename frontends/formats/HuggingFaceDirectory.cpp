#include "frontends/formats/HuggingFaceDirectory.h"

#include "frontends/formats/Json.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"

#include <filesystem>
#include <map>

namespace quire {

static constexpr std::string_view kSingle = "model.safetensors";
static constexpr std::string_view kIndex = "model.safetensors.index.json";

/// Tensor names by the file they come from, both as the index gives them.
using Index = std::map<std::string, std::vector<std::string>>;

/// A bare file name: nothing outside the directory may be named.
static bool isPlainShardName(std::string_view name) {
  return name.ends_with(".safetensors") && name.front() != '.' &&
         name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

static absl::StatusOr<Index> readIndex(const std::string &path) {
  absl::StatusOr<nlohmann::json> json = readJson(path);
  if (!json.ok()) {
    return json.status();
  }
  absl::StatusOr<const nlohmann::json *> map = getObject(*json, "weight_map");
  if (!map.ok()) {
    return inFile(path, map.status());
  }
  if ((*map)->size() > kMaxTensors) {
    return inFile(path, absl::InvalidArgumentError(
                            strCat("more than ", kMaxTensors, " tensors")));
  }
  Index index;
  for (const auto &[tensor, shard] : (*map)->items()) {
    if (!shard.is_string() ||
        !isPlainShardName(shard.get_ref<const std::string &>())) {
      return inFile(
          path, absl::InvalidArgumentError(strCat(
                    "the tensor '", printable(tensor), "' is said to be in ",
                    shard.is_string()
                        ? printable(shard.get_ref<const std::string &>())
                        : shard.type_name(),
                    ", which is not the name of a .safetensors file in this "
                    "directory")));
    }
    index[shard.get<std::string>()].push_back(tensor);
  }
  return index;
}

absl::StatusOr<std::unique_ptr<HuggingFaceDirectory>>
HuggingFaceDirectory::openWithoutWeights(const std::string &path) {
  std::unique_ptr<HuggingFaceDirectory> opened(new HuggingFaceDirectory());
  opened->givenPath = path;
  std::error_code ignored;
  std::string configPath = path;
  if (std::filesystem::is_regular_file(path, ignored)) {
    opened->directory = std::filesystem::path(path).parent_path().string();
  } else {
    opened->directory = path;
    configPath = opened->fileIn("config.json");
  }
  absl::StatusOr<nlohmann::json> config = quire::readJson(configPath);
  if (!config.ok()) {
    return config.status();
  }
  if (!config->is_object()) {
    return inFile(configPath,
                  absl::InvalidArgumentError("it is not a JSON object"));
  }
  opened->json = *std::move(config);
  return opened;
}

absl::StatusOr<std::unique_ptr<HuggingFaceDirectory>>
HuggingFaceDirectory::open(const std::string &directory) {
  auto opened = openWithoutWeights(directory);
  if (!opened.ok()) {
    return opened.status();
  }
  HuggingFaceDirectory &checkpoint = **opened;
  absl::Status status;
  if (checkpoint.hasFile(kIndex)) {
    status = checkpoint.openSharded();
  } else if (checkpoint.hasFile(kSingle)) {
    status = checkpoint.openSingle();
  } else {
    status = absl::NotFoundError(
        strCat("'", directory, "' has neither ", kSingle, " nor ", kIndex,
               "; fetch the weights, or convert them to safetensors"));
  }
  if (!status.ok()) {
    return status;
  }
  return opened;
}

absl::Status HuggingFaceDirectory::openSingle() {
  absl::StatusOr<SafetensorsFile> file = SafetensorsFile::open(fileIn(kSingle));
  if (!file.ok()) {
    return file.status();
  }
  absl::StatusOr<TensorTable> built = TensorTable::build(file->tensors());
  if (!built.ok()) {
    return inFile(fileIn(kSingle), built.status());
  }
  shards.push_back(*std::move(file));
  table = *std::move(built);
  return absl::OkStatus();
}

absl::Status HuggingFaceDirectory::openSharded() {
  absl::StatusOr<Index> index = readIndex(fileIn(kIndex));
  if (!index.ok()) {
    return index.status();
  }
  std::vector<TensorView> chosen;
  for (const auto &[shard, names] : *index) {
    std::string shardPath = fileIn(shard);
    if (!hasFile(shard)) {
      return absl::NotFoundError(
          strCat("'", shardPath, "' is missing, which ", kIndex, " names for '",
                 printable(names.front()), "' and ", names.size() - 1,
                 " more tensors; fetch it"));
    }
    absl::StatusOr<SafetensorsFile> file = SafetensorsFile::open(shardPath);
    if (!file.ok()) {
      return file.status();
    }
    for (const std::string &name : names) {
      const TensorView *tensor = file->find(name);
      if (!tensor) {
        return absl::NotFoundError(strCat(
            "'", shardPath, "' does not hold the tensor '", printable(name),
            "' that ", kIndex, " says it holds; fetch both again"));
      }
      chosen.push_back(*tensor);
    }
    shards.push_back(*std::move(file));
  }
  absl::StatusOr<TensorTable> built = TensorTable::build(std::move(chosen));
  if (!built.ok()) {
    return inFile(fileIn(kIndex), built.status());
  }
  table = *std::move(built);
  return absl::OkStatus();
}

std::string HuggingFaceDirectory::fileIn(std::string_view name) const {
  return (std::filesystem::path(directory) / name).string();
}

bool HuggingFaceDirectory::hasFile(std::string_view name) const {
  std::error_code ignored;
  return std::filesystem::is_regular_file(fileIn(name), ignored);
}

absl::StatusOr<nlohmann::json>
HuggingFaceDirectory::readJson(std::string_view name) const {
  return quire::readJson(fileIn(name));
}

} // namespace quire
