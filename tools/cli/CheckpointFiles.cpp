#include "tools/cli/CheckpointFiles.h"

#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "runtime/engine/ManifestFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace quire::cli {

namespace {

/// NAME of "NAME-00001-of-0000N.gguf", or nothing.
std::string splitStem(const std::string &file) {
  constexpr size_t kSuffix = 20; // "-00001-of-00003.gguf"
  if (file.size() <= kSuffix || !file.ends_with(".gguf")) {
    return "";
  }
  std::string suffix = file.substr(file.size() - kSuffix);
  return suffix[0] == '-' && suffix.substr(6, 4) == "-of-"
             ? file.substr(0, file.size() - kSuffix)
             : "";
}

bool belongsToDirectory(const fs::path &file) {
  static constexpr const char *kKinds[] = {".json", ".safetensors", ".model",
                                           ".jinja", ".txt"};
  return std::any_of(
      std::begin(kKinds), std::end(kKinds),
      [&](const char *kind) { return file.extension() == kind; });
}

} // namespace

absl::StatusOr<std::vector<std::string>>
checkpointFiles(const std::string &model) {
  std::error_code error;
  fs::path path = fs::absolute(model, error).lexically_normal();
  fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    return absl::NotFoundError(strCat(
        "there is no model at ", printable(model),
        "; give an engine directory, a Hugging Face directory or a .gguf "
        "file"));
  }
  bool directory = fs::is_directory(status);
  std::string stem = directory ? "" : splitStem(path.filename().string());
  if (!directory && stem.empty()) {
    return std::vector<std::string>{path.string()};
  }
  std::vector<std::string> files;
  fs::path folder = directory ? path : path.parent_path();
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path &file = entry->path();
    bool wanted = directory ? belongsToDirectory(file)
                            : splitStem(file.filename().string()) == stem;
    std::error_code ignored;
    if (wanted && fs::is_regular_file(file, ignored)) {
      files.push_back(file.string());
    }
  }
  if (error) {
    return absl::UnavailableError(
        strCat("cannot list ", folder.string(), ": ", error.message()));
  }
  if (directory && !fs::exists(path / "config.json", error)) {
    return absl::NotFoundError(
        strCat(printable(model), " holds neither an engine (manifest.pb) nor a "
                                 "checkpoint (config.json)"));
  }
  std::sort(files.begin(), files.end());
  return files;
}

absl::StatusOr<std::string> describeFile(const std::string &path,
                                         int64_t headerBytes) {
  // Non-blocking: a pipe without a writer must not hang.
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info = {};
  bool known = file >= 0 && ::fstat(file, &info) == 0;
  if (!known || S_ISFIFO(info.st_mode)) {
    std::string reason = known ? "it is a pipe" : std::strerror(errno);
    if (file >= 0) {
      ::close(file);
    }
    return absl::NotFoundError(
        strCat("cannot open ", printable(path), ": ", reason));
  }
  std::string header(std::min<int64_t>(headerBytes, info.st_size), '\0');
  ssize_t count = ::pread(file, header.data(), header.size(), 0);
  ::close(file);
  header.resize(std::max<ssize_t>(count, 0));
  return strCat(info.st_size, " ", info.st_mtim.tv_sec, ".",
                info.st_mtim.tv_nsec, " ",
                contentHash(std::as_bytes(std::span(header))));
}

} // namespace quire::cli
