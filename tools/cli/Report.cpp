#include "tools/cli/Report.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_format.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"

#include <iterator>
#include <sys/resource.h>
#include <unistd.h>

namespace quire::cli {

namespace {

constexpr char kExitPayload[] = "quire/exit-status";
constexpr char kSilentPayload[] = "quire/silent";

absl::Status withExit(absl::StatusCode code, std::string_view text,
                      int exitStatus) {
  absl::Status status(code, absl::string_view(text.data(), text.size()));
  status.SetPayload(kExitPayload,
                    absl::Cord(absl::string_view(std::to_string(exitStatus))));
  return status;
}

/// Best effort: there is nobody left to tell when stderr is gone.
void writeStderr(std::string_view text) {
  while (!text.empty()) {
    ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) {
      return;
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
}

} // namespace

absl::Status usageError(std::string_view sentence) {
  return withExit(absl::StatusCode::kInvalidArgument, sentence, 2);
}

absl::Status interruptedError() {
  return withExit(absl::StatusCode::kCancelled, "interrupted", 130);
}

absl::Status silentEnd(int exitStatus) {
  absl::Status status =
      withExit(absl::StatusCode::kAborted, "said already", exitStatus);
  status.SetPayload(kSilentPayload, absl::Cord("1"));
  return status;
}

int exitStatusOf(const absl::Status &status) {
  if (status.ok()) {
    return 0;
  }
  if (!status.GetPayload(kSilentPayload)) {
    std::string sentence = oneLine(strCat(status.message()));
    writeStderr(strCat("quire: error: ", sentence, "\n"));
  }
  auto exit = status.GetPayload(kExitPayload);
  return exit ? std::stoi(std::string(*exit)) : 1;
}

void note(std::string_view text) {
  writeStderr(strCat("quire: ", oneLine(text), "\n"));
}

void warn(std::string_view text) {
  writeStderr(strCat("quire: warning: ", oneLine(text), "\n"));
}

int64_t peakMemoryBytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * int64_t{1024};
}

std::string readableBytes(int64_t bytes) {
  static constexpr const char *kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) {
    value /= 1024;
  }
  return unit == 0 ? strCat(bytes, " bytes")
                   : absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

} // namespace quire::cli
