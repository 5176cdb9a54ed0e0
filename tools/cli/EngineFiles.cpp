#include "tools/cli/EngineFiles.h"

#include "frontends/formats/MappedFile.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "runtime/engine/ManifestFile.h"
#include "tools/cli/Files.h"

#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;

namespace quire::cli {

static FileCheck checkFile(const EngineDirectory &engine,
                           const manifest::File &file) {
  FileCheck check{file.path(), file.bytes(), absl::OkStatus()};
  absl::StatusOr<MappedFile> mapped = MappedFile::open(engine.pathOf(file));
  if (!mapped.ok()) {
    check.status = mapped.status();
  } else if (static_cast<int64_t>(mapped->size()) != file.bytes()) {
    check.status = absl::DataLossError(
        strCat(file.path(), " has ", mapped->size(),
               " bytes where the manifest says ", file.bytes()));
  } else if (contentHash(mapped->bytes()) != file.xxh3()) {
    check.status = absl::DataLossError(
        strCat("the checksum of ", file.path(), " does not match"));
  }
  return check;
}

std::vector<FileCheck> checkFiles(const EngineDirectory &engine) {
  const manifest::Manifest &manifest = engine.manifest();
  std::vector<FileCheck> checks;
  for (const manifest::Code &code : manifest.code()) {
    checks.push_back(checkFile(engine, code.object()));
  }
  if (manifest.has_tokenizer()) {
    checks.push_back(checkFile(engine, manifest.tokenizer()));
  }
  checks.push_back(checkFile(engine, manifest.weights().file()));
  return checks;
}

absl::StatusOr<std::string> phaseIr(const EngineDirectory &engine,
                                    const std::string &phase) {
  std::vector<std::string> phases;
  std::error_code error;
  for (fs::directory_iterator entry(fs::path(engine.path()) / "ir", error), end;
       !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".mlir") {
      phases.push_back(entry->path().stem().string());
      if (phases.back() == phase) {
        return readInput(entry->path().string());
      }
    }
  }
  if (phases.empty()) {
    return absl::NotFoundError(
        strCat(printable(engine.path()),
               " keeps no IR; compile it with --dump-ir DIR"));
  }
  std::sort(phases.begin(), phases.end());
  std::string known;
  for (const std::string &name : phases) {
    strAppend(known, known.empty() ? "" : ", ", name);
  }
  return absl::NotFoundError(strCat("the engine keeps no IR of phase '",
                                    printable(phase), "'; it has ", known));
}

} // namespace quire::cli
