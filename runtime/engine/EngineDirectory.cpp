#include "runtime/engine/EngineDirectory.h"

#include "absl/strings/str_cat.h"
#include "runtime/engine/IsaLevel.h"
#include "runtime/engine/ManifestFile.h"
#include "runtime/engine/StatusMacros.h"

#include <dlfcn.h>
#include <filesystem>

namespace quire {

namespace {

absl::Status inEngine(const std::string &directory,
                      const absl::Status &status) {
  return absl::Status(status.code(),
                      absl::StrCat(directory, ": ", status.message()));
}

} // namespace

bool EngineDirectory::looksLikeEngine(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(
      std::filesystem::path(path) / kManifestFileName, ignored);
}

std::string EngineDirectory::pathOf(const manifest::File &file) const {
  return absl::StrCat(directory, "/", file.path());
}

absl::StatusOr<MappedFile>
EngineDirectory::openChecked(const manifest::File &file, absl::string_view what,
                             bool checksum) const {
  QUIRE_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::open(pathOf(file)));
  if (static_cast<int64_t>(mapped.size()) != file.bytes()) {
    return absl::DataLossError(
        absl::StrCat(what, " ", file.path(), " has ", mapped.size(),
                     " bytes where the manifest says ", file.bytes(),
                     "; compile the model again"));
  }
  if (checksum && contentHash(mapped.bytes()) != file.xxh3()) {
    return absl::DataLossError(
        absl::StrCat("the checksum of ", what, " ", file.path(),
                     " does not match the manifest; compile the model again"));
  }
  return mapped;
}

absl::StatusOr<const manifest::Code *>
EngineDirectory::chooseCode(std::string isa) const {
  std::string present;
  for (const manifest::Code &code : contents.code()) {
    bool wanted = isa.empty() || isa == code.isa();
    if (wanted && cpuSupportsIsa(code.isa())) {
      return &code;
    }
    absl::StrAppend(&present, present.empty() ? "" : ", ", code.isa());
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the engine has code for ", present.empty() ? "no ISA level" : present,
      isa.empty() ? "" : ", not one for the requested " + isa,
      "; this CPU runs up to ", std::string(bestIsaOfCpu()),
      "; compile the model for this machine"));
}

absl::Status EngineDirectory::loadCode(const manifest::Code &code) {
  QUIRE_RETURN_IF_ERROR(
      openChecked(code.object(), "the code", /*checksum=*/true).status());
  std::string file = std::filesystem::absolute(pathOf(code.object())).string();
  codeHandle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!codeHandle) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot load the code: ", dlerror()));
  }
  auto version =
      reinterpret_cast<QuireAbiVersionFn>(dlsym(codeHandle, kAbiVersionSymbol));
  if (!version || version() != kStepAbiVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the code ", code.object().path(), " does not speak step ABI ",
        kStepAbiVersion, "; compile the model again"));
  }
  stepFunction = reinterpret_cast<QuireStepFn>(dlsym(codeHandle, kStepSymbol));
  if (!stepFunction) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the code ", code.object().path(), " has no ", kStepSymbol));
  }
  loadedIsa = code.isa();
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<EngineDirectory>>
EngineDirectory::open(const std::string &path,
                      const EngineOpenOptions &options) {
  std::unique_ptr<EngineDirectory> engine(new EngineDirectory);
  engine->directory = path;
  if (!looksLikeEngine(path)) {
    return absl::NotFoundError(absl::StrCat(
        path, " is not an engine directory: it has no ", kManifestFileName));
  }
  absl::Status status = [&]() -> absl::Status {
    QUIRE_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(absl::StrCat(
                                                path, "/", kManifestFileName)));
    QUIRE_ASSIGN_OR_RETURN(engine->contents, decodeManifest(file.bytes()));
    QUIRE_RETURN_IF_ERROR(checkManifest(engine->contents));
    QUIRE_ASSIGN_OR_RETURN(
        engine->weightFile,
        engine->openChecked(engine->contents.weights().file(),
                            "the weight file", options.verifyWeights));
    if (options.loadCode) {
      QUIRE_ASSIGN_OR_RETURN(const manifest::Code *code,
                             engine->chooseCode(options.isa));
      QUIRE_RETURN_IF_ERROR(engine->loadCode(*code));
    }
    return absl::OkStatus();
  }();
  if (!status.ok()) {
    return inEngine(path, status);
  }
  return engine;
}

EngineDirectory::~EngineDirectory() {
  if (codeHandle) {
    dlclose(codeHandle);
  }
}

void EngineDirectory::addTo(Ledger &ledger) const {
  ledger.add({"weights", contents.weights().file().path(),
              absl::StrCat("the packed weight file, ",
                           contents.weights().entries_size(), " tensors"),
              weightBytes(), /*mapped=*/true});
}

} // namespace quire
