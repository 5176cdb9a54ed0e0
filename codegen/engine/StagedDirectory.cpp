#include "codegen/engine/StagedDirectory.h"

#include "frontends/formats/StrCat.h"
#include "runtime/engine/ManifestFile.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace quire {

namespace fs = std::filesystem;

static constexpr std::string_view kStagingMark = ".partial-";

static absl::Status checkTarget(const fs::path &target, bool replace) {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(target, ignored))) {
    return absl::OkStatus();
  }
  if (!replace) {
    return absl::AlreadyExistsError(
        strCat(target.string(), " exists already; give --force to replace it"));
  }
  bool isDirectory = fs::is_directory(target, ignored);
  if (isDirectory && (fs::is_empty(target, ignored) ||
                      fs::exists(target / kManifestFileName, ignored))) {
    return absl::OkStatus();
  }
  return absl::AlreadyExistsError(
      strCat(target.string(),
             " is not an engine; --force replaces engines only, so choose "
             "another output or remove it yourself"));
}

/// Staging directories carry their process's number: one whose process is
/// gone is rubbish.
static void removeLeftovers(const fs::path &parent, const std::string &prefix) {
  std::error_code ignored;
  for (fs::directory_iterator entry(parent, ignored), end; entry != end;
       entry.increment(ignored)) {
    std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix)) {
      continue;
    }
    int process = std::atoi(name.c_str() + prefix.size());
    if (process > 0 && kill(process, 0) != 0 && errno == ESRCH) {
      fs::remove_all(entry->path(), ignored);
    }
  }
}

static fs::path placeOf(const std::string &target) {
  std::error_code ignored;
  fs::path place = fs::absolute(target, ignored).lexically_normal();
  return place.has_filename() ? place : place.parent_path(); // "engine/"
}

absl::Status StagedDirectory::check(const std::string &target, bool replace) {
  std::error_code ignored;
  fs::path place = placeOf(target);
  if (absl::Status status = checkTarget(place, replace); !status.ok()) {
    return status;
  }
  if (!fs::is_directory(place.parent_path(), ignored)) {
    return absl::NotFoundError(strCat("the directory ",
                                      place.parent_path().string(),
                                      " for the engine does not exist"));
  }
  return absl::OkStatus();
}

absl::StatusOr<StagedDirectory>
StagedDirectory::create(const std::string &target, bool replace) {
  if (absl::Status status = check(target, replace); !status.ok()) {
    return status;
  }
  std::error_code error;
  fs::path place = placeOf(target);
  fs::path parent = place.parent_path();
  std::string prefix = strCat(".", place.filename().string(), kStagingMark);
  removeLeftovers(parent, prefix);
  fs::path staging = parent / strCat(prefix, getpid());
  fs::remove_all(staging, error);
  if (!fs::create_directory(staging, error)) {
    return absl::PermissionDeniedError(strCat("cannot create a directory in ",
                                              parent.string(), ": ",
                                              error.message()));
  }
  return StagedDirectory(std::move(staging), std::move(place), replace);
}

StagedDirectory::StagedDirectory(StagedDirectory &&other) noexcept
    : staging(std::exchange(other.staging, fs::path())),
      target(std::move(other.target)), replace(other.replace) {}

StagedDirectory::~StagedDirectory() {
  if (!staging.empty()) {
    std::error_code ignored;
    fs::remove_all(staging, ignored);
  }
}

absl::Status StagedDirectory::commit() {
  auto rename = [&](unsigned flags) {
    return renameat2(AT_FDCWD, staging.c_str(), AT_FDCWD, target.c_str(),
                     flags) == 0;
  };
  if (rename(RENAME_NOREPLACE)) {
    staging.clear();
    return absl::OkStatus();
  }
  // An exchange leaves the old engine in the staging place, which the
  // destructor clears.
  if (errno == EEXIST && replace && rename(RENAME_EXCHANGE)) {
    return absl::OkStatus();
  }
  // File systems without these flags: an empty or missing target only.
  if (errno == EINVAL && std::rename(staging.c_str(), target.c_str()) == 0) {
    staging.clear();
    return absl::OkStatus();
  }
  if (errno == EEXIST) {
    return absl::AlreadyExistsError(
        strCat(target.string(), " was written by somebody else meanwhile; give "
                                "--force to replace it"));
  }
  return absl::InternalError(strCat("cannot put the engine at ",
                                    target.string(), ": ",
                                    std::strerror(errno)));
}

} // namespace quire
