// An engine on disk, opened: the checked manifest, the loaded code of one ISA
// level, the mapped weights. Immutable once open; any thread may read it. It
// must outlive every worker that may still run its code.

#ifndef QUIRE_RUNTIME_ENGINE_ENGINEDIRECTORY_H
#define QUIRE_RUNTIME_ENGINE_ENGINEDIRECTORY_H

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "frontends/formats/MappedFile.h"
#include "runtime/engine/Ledger.h"
#include "runtime/engine/StepAbi.h"
#include "runtime/engine/manifest.pb.h"

#include <memory>
#include <optional>
#include <string>

namespace quire {

struct EngineOpenOptions {
  std::string isa = {};       // empty: the best the CPU has
  bool loadCode = true;       // false: manifest and weights only (inspect)
  bool verifyWeights = false; // reads the whole weight file
};

class EngineDirectory {
public:
  /// Opens and checks an engine: schema and ABI version, sizes of all files,
  /// checksums of manifest and code (and weights, if asked). Refuses with a
  /// sentence that says what does not fit.
  static absl::StatusOr<std::unique_ptr<EngineDirectory>>
  open(const std::string &path, const EngineOpenOptions &options = {});
  EngineDirectory(const EngineDirectory &) = delete;
  ~EngineDirectory();

  /// True when `path` is a directory that holds a manifest.
  static bool looksLikeEngine(const std::string &path);

  const std::string &path() const { return directory; }
  const manifest::Manifest &manifest() const { return contents; }
  const std::string &isa() const { return loadedIsa; }
  QuireStepFn step() const { return stepFunction; } // null without code
  const std::byte *weights() const { return weightFile->bytes().data(); }
  int64_t weightBytes() const {
    return static_cast<int64_t>(weightFile->size());
  }

  /// Path of a file the manifest names.
  std::string pathOf(const manifest::File &file) const;

  /// Adds the mapped weights.
  void addTo(Ledger &ledger) const;

private:
  EngineDirectory() = default;
  absl::StatusOr<MappedFile> openChecked(const manifest::File &file,
                                         absl::string_view what,
                                         bool checksum) const;
  absl::StatusOr<const manifest::Code *> chooseCode(std::string isa) const;
  absl::Status loadCode(const manifest::Code &code);

  std::string directory;
  manifest::Manifest contents;
  std::string loadedIsa;
  std::optional<MappedFile> weightFile; // present once open
  void *codeHandle = nullptr;
  QuireStepFn stepFunction = nullptr;
};

} // namespace quire

#endif
