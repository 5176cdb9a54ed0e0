// A directory that appears whole or not at all: it is filled beside its final
// place and renamed at the end. What an interrupted process left behind is
// removed by the next one that writes to the same place.

#ifndef QUIRE_CODEGEN_ENGINE_STAGEDDIRECTORY_H
#define QUIRE_CODEGEN_ENGINE_STAGEDDIRECTORY_H

#include "absl/status/statusor.h"

#include <filesystem>
#include <string>

namespace quire {

class StagedDirectory {
public:
  /// Refuses where `target` exists, unless `replace` and it is an engine or
  /// empty, and where its parent does not exist.
  static absl::Status check(const std::string &target, bool replace);
  static absl::StatusOr<StagedDirectory> create(const std::string &target,
                                                bool replace);
  StagedDirectory(StagedDirectory &&other) noexcept;
  StagedDirectory &operator=(StagedDirectory &&) = delete;
  /// Removes what was not committed.
  ~StagedDirectory();

  std::string pathOf(const std::string &name) const {
    return (staging / name).string();
  }
  const std::filesystem::path &path() const { return staging; }

  /// Puts the directory in its place, in one step also where it replaces
  /// another.
  absl::Status commit();

private:
  StagedDirectory(std::filesystem::path staging, std::filesystem::path target,
                  bool replace)
      : staging(std::move(staging)), target(std::move(target)),
        replace(replace) {}

  std::filesystem::path staging; // empty once there is nothing to remove
  std::filesystem::path target;
  bool replace;
};

} // namespace quire

#endif
