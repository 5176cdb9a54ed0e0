#include "tools/cli/EngineCache.h"

#include "absl/strings/str_format.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "runtime/engine/EngineDirectory.h"
#include "runtime/engine/IsaLevel.h"
#include "runtime/engine/ManifestFile.h"
#include "runtime/engine/StatusMacros.h"
#include "tools/cli/CheckpointFiles.h"
#include "tools/cli/Compiler.h"
#include "tools/cli/Interrupt.h"
#include "tools/cli/Report.h"
#include "tools/machine/CacheDirectory.h"
#include "tools/machine/FileLock.h"

#include <filesystem>
#include <thread>
#include <unistd.h>

namespace fs = std::filesystem;

namespace quire::cli {

namespace {

/// The compiler as it is now: its version, and which build of it.
std::string compilerStamp() {
  std::string stamp = QUIRE_VERSION;
  absl::StatusOr<std::string> program = findCompiler();
  if (program.ok()) {
    absl::StatusOr<std::string> build = describeFile(*program, 0);
    strAppend(stamp, " ", build.ok() ? *build : "");
  }
  return stamp;
}

/// What of the machine decides how a model is compiled.
std::string machineStamp(const MachineChoice &machine) {
  return strCat(bestIsaOfCpu(), " ", std::thread::hardware_concurrency(), " ",
                machine.name);
}

/// Said and asked while another process compiles the model.
absl::Status whileWaiting(bool &said) {
  if (!said) {
    note("another process is compiling this model; waiting for it");
    said = true;
  }
  return interrupted() ? interruptedError() : absl::OkStatus();
}

std::string stemOf(const std::string &model) {
  fs::path path = fs::path(model).lexically_normal();
  std::string stem = path.has_filename()
                         ? path.stem().string()
                         : path.parent_path().filename().string();
  for (char &c : stem) {
    bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '-' ||
                 c == '.' || c == '_';
    c = plain ? c : '_';
  }
  return stem.substr(0, 60);
}

} // namespace

absl::StatusOr<std::string> cacheKey(const CacheRequest &request,
                                     const MachineChoice &machine) {
  QUIRE_ASSIGN_OR_RETURN(std::vector<std::string> files,
                         checkpointFiles(request.model));
  constexpr int64_t kHeaderBytes = 1 << 18;
  std::string text;
  for (const std::string &file : files) {
    QUIRE_ASSIGN_OR_RETURN(std::string description,
                           describeFile(file, kHeaderBytes));
    strAppend(text, file, "\n", description, "\n");
  }
  for (const std::string &option : request.options) {
    strAppend(text, option, "\n");
  }
  strAppend(text, machineStamp(machine), "\n", compilerStamp());
  return absl::StrFormat("%016x", contentHash(std::as_bytes(std::span(text))));
}

absl::StatusOr<std::string> cachedEngine(const CacheRequest &request) {
  QUIRE_ASSIGN_OR_RETURN(MachineChoice machine, chooseMachineProfile(""));
  QUIRE_ASSIGN_OR_RETURN(std::string key, cacheKey(request, machine));
  QUIRE_ASSIGN_OR_RETURN(fs::path cache, cacheDirectory());
  fs::path engine = cache / strCat(stemOf(request.model), "-", key);
  if (!request.replace && EngineDirectory::looksLikeEngine(engine.string())) {
    return engine.string();
  }
  bool said = false;
  QUIRE_ASSIGN_OR_RETURN(FileLock lock,
                         FileLock::take(strCat(engine.string(), ".lock"),
                                        [&] { return whileWaiting(said); }));
  if (!request.replace && EngineDirectory::looksLikeEngine(engine.string())) {
    return engine.string();
  }
  QUIRE_RETURN_IF_ERROR(findCompiler().status());
  note(strCat("compiling ", printable(request.model), " into the cache, ",
              engine.string()));
  std::vector<std::string> arguments{
      request.model,       "-o",
      engine.string(),     "--force",
      "--machine-profile", machine.rates ? machine.path : machine.name};
  if (!::isatty(STDERR_FILENO)) {
    arguments.push_back("--quiet");
  }
  arguments.insert(arguments.end(), request.options.begin(),
                   request.options.end());
  QUIRE_RETURN_IF_ERROR(callCompiler(arguments));
  return engine.string();
}

} // namespace quire::cli
