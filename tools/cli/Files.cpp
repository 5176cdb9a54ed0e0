#include "tools/cli/Files.h"

#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "tools/cli/Interrupt.h"
#include "tools/cli/Report.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace quire::cli {

namespace {

// More text than any context takes; a device that never ends stops here.
constexpr size_t kMostInputBytes = size_t{1} << 30;

absl::StatusOr<std::string> readAll(int file, const std::string &name) {
  std::string text;
  char piece[1 << 16];
  while (true) {
    ssize_t count = ::read(file, piece, sizeof(piece));
    if (count < 0 && errno == EINTR) {
      if (interrupted()) {
        return interruptedError();
      }
      continue;
    }
    if (count < 0) {
      return absl::UnavailableError(
          strCat("cannot read ", name, ": ", std::strerror(errno)));
    }
    if (count == 0) {
      return text;
    }
    text.append(piece, static_cast<size_t>(count));
    if (text.size() > kMostInputBytes) {
      return absl::ResourceExhaustedError(
          strCat(name, " is longer than 1 GiB; cut it"));
    }
  }
}

} // namespace

absl::Status writeOutput(std::string_view text) {
  while (!text.empty()) {
    ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0 && errno == EPIPE) {
      return silentEnd(0);
    }
    if (written < 0) {
      return absl::UnavailableError(
          strCat("cannot write to stdout: ", std::strerror(errno)));
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

void separateStderrFromOutput() {
  struct stat out = {};
  struct stat err = {};
  if (::fstat(STDOUT_FILENO, &out) != 0 || ::fstat(STDERR_FILENO, &err) != 0) {
    return;
  }
  bool same = out.st_dev == err.st_dev && out.st_ino == err.st_ino;
  bool piped = S_ISFIFO(out.st_mode) && ::isatty(STDERR_FILENO);
  if (same || piped) {
    // Best effort, as all that goes to stderr.
    [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, "\n", 1);
  }
}

absl::StatusOr<std::string> readInput(const std::string &path) {
  if (path.empty() || path == "-") {
    return readAll(STDIN_FILENO, "stdin");
  }
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return absl::NotFoundError(
        strCat("cannot open ", printable(path), ": ", std::strerror(errno)));
  }
  absl::StatusOr<std::string> text = readAll(file, printable(path));
  ::close(file);
  return text;
}

std::optional<std::string> LineReader::next() {
  while (true) {
    size_t end = buffer.find('\n');
    if (end != std::string::npos) {
      std::string line = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      return line;
    }
    if (ended) {
      return buffer.empty() ? std::nullopt
                            : std::optional(std::exchange(buffer, {}));
    }
    char piece[4096];
    ssize_t count = ::read(STDIN_FILENO, piece, sizeof(piece));
    if (count < 0 && errno == EINTR && !interrupted()) {
      continue;
    }
    if (count < 0) {
      return std::nullopt;
    }
    ended = count == 0;
    buffer.append(piece, static_cast<size_t>(count));
  }
}

} // namespace quire::cli
