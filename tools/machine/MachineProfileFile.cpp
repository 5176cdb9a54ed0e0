#include "tools/machine/MachineProfileFile.h"

#include "absl/strings/str_format.h"
#include "frontends/formats/StrCat.h"
#include "runtime/engine/IsaLevel.h"
#include "runtime/engine/ManifestFile.h"
#include "runtime/engine/StatusMacros.h"
#include "runtime/exec/CpuTopology.h"
#include "tools/machine/CacheDirectory.h"
#include "tools/machine/FileLock.h"

#include "nlohmann/json.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace fs = std::filesystem;

namespace quire {

using nlohmann::ordered_json;

namespace {

constexpr std::string_view kDefault = "default";
constexpr const char *kReadField = "read_gbps";
constexpr const char *kInt8Field = "int8_gops";
constexpr const char *kF32Field = "f32_gops";

double twoDigits(double value) {
  if (!(value > 0)) {
    return 0;
  }
  double unit = std::pow(10, std::floor(std::log10(value)) - 1);
  return std::round(value / unit) * unit;
}

std::string hashOf(std::string_view text) {
  return absl::StrFormat("%016x", contentHash(std::as_bytes(std::span(text))));
}

std::string nameOf(const MachineRates &rates) {
  return hashOf(absl::StrFormat("read %.6g int8 %.6g f32 %.6g", rates.readGbps,
                                rates.int8Gops, rates.f32Gops));
}

/// "AMD EPYC 9R14"; empty where the system does not say.
std::string cpuModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) {
      size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
      return value == std::string::npos ? "" : line.substr(value);
    }
  }
  return "";
}

/// What two machines must share to share a profile. A cache directory may lie
/// on a disk that many machines mount.
struct Machine {
  std::string cpu = cpuModel();
  std::string isa{bestIsaOfCpu()};
  int threads = defaultWorkers(usableCores());

  std::string fileName() const {
    return strCat("machine-", hashOf(strCat(cpu, "\n", isa, "\n", threads)),
                  ".json");
  }
};

/// Whole or not at all: written beside, then renamed.
bool writeProfile(const fs::path &path, const Machine &machine,
                  const MachineRates &rates) {
  ordered_json json = {
      {"cpu", machine.cpu},         {"isa", machine.isa},
      {"threads", machine.threads}, {kReadField, rates.readGbps},
      {kInt8Field, rates.int8Gops}, {kF32Field, rates.f32Gops}};
  fs::path beside = path.string() + ".new";
  std::ofstream file(beside);
  // A CPU's name need not be UTF-8.
  file << json.dump(2, ' ', false, ordered_json::error_handler_t::replace)
       << "\n";
  file.close();
  std::error_code error;
  if (file) {
    fs::rename(beside, path, error);
  }
  return file && !error;
}

absl::StatusOr<MachineChoice> choiceFrom(const std::string &path) {
  QUIRE_ASSIGN_OR_RETURN(MachineRates rates, readMachineProfile(path));
  return MachineChoice{nameOf(rates), path, rates};
}

/// The machine's own profile, measured where there is none.
absl::StatusOr<MachineChoice> ownProfile() {
  QUIRE_ASSIGN_OR_RETURN(fs::path cache, cacheDirectory());
  Machine machine;
  fs::path path = cache / machine.fileName();
  if (auto kept = choiceFrom(path.string()); kept.ok()) {
    return kept;
  }
  // Two that measure at once would halve each other's figures.
  QUIRE_ASSIGN_OR_RETURN(
      FileLock lock,
      FileLock::take(path.string() + ".lock", [] { return absl::OkStatus(); }));
  if (auto kept = choiceFrom(path.string()); kept.ok()) {
    return kept;
  }
  MachineRates rates = ratesOf(measureRoof(machine.threads, kQuickRoof));
  if (!writeProfile(path, machine, rates)) {
    return absl::UnavailableError(strCat("cannot write ", path.string()));
  }
  return choiceFrom(path.string());
}

} // namespace

MachineRates ratesOf(const MachineRoof &roof) {
  // The roof counts a multiply-add as two operations.
  return {twoDigits(roof.readBytesPerSecond / 1e9),
          twoDigits(roof.int8OpsPerSecond / 2e9),
          twoDigits(roof.f32OpsPerSecond / 2e9)};
}

absl::StatusOr<MachineRates> readMachineProfile(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  if (file) {
    text << file.rdbuf();
  }
  ordered_json json =
      ordered_json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  MachineRates rates;
  bool good = json.is_object();
  auto read = [&](const char *field, double &value) {
    good = good && json.contains(field) && json[field].is_number();
    value = good ? json[field].get<double>() : 0;
    good = good && value > 0 && value < 1e9;
  };
  read(kReadField, rates.readGbps);
  read(kInt8Field, rates.int8Gops);
  read(kF32Field, rates.f32Gops);
  if (!good) {
    return absl::InvalidArgumentError(strCat(
        "the machine profile ", path, file ? " is no" : " is no readable",
        " JSON object with the positive numbers ", kReadField, ", ", kInt8Field,
        " and ", kF32Field));
  }
  return rates;
}

absl::StatusOr<MachineChoice> chooseMachineProfile(std::string wish) {
  const char *variable = std::getenv("QUIRE_MACHINE_PROFILE");
  if (wish.empty() && variable) {
    wish = variable;
  }
  if (wish == kDefault) {
    return MachineChoice{};
  }
  if (!wish.empty()) {
    return choiceFrom(wish);
  }
  absl::StatusOr<MachineChoice> own = ownProfile();
  return own.ok() ? *std::move(own) : MachineChoice{};
}

} // namespace quire
