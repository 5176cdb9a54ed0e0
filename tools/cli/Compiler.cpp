#include "tools/cli/Compiler.h"

#include "frontends/formats/StrCat.h"
#include "tools/cli/Report.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

namespace quire::cli {

namespace {

constexpr const char kCompilerName[] = "quire-compile";

bool isProgram(const std::filesystem::path &path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::vector<char *> pointersTo(std::vector<std::string> &words) {
  std::vector<char *> result;
  for (std::string &word : words) {
    result.push_back(word.data());
  }
  result.push_back(nullptr);
  return result;
}

} // namespace

absl::StatusOr<std::string> findCompiler() {
  std::error_code error;
  std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", error);
  std::vector<std::filesystem::path> places;
  if (!error) {
    places = {self.parent_path(), self.parent_path() / ".." / "libexec"};
  }
  const char *path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    std::string_view entry = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    if (!entry.empty()) {
      places.emplace_back(entry);
    }
  }
  for (const std::filesystem::path &place : places) {
    if (isProgram(place / kCompilerName)) {
      return (place / kCompilerName).string();
    }
  }
  return absl::NotFoundError(
      strCat(kCompilerName, " is neither beside quire, nor in ../libexec, nor "
                            "on PATH; install it, or use an engine that was "
                            "compiled elsewhere"));
}

absl::Status becomeCompiler(const std::vector<std::string> &arguments) {
  absl::StatusOr<std::string> program = findCompiler();
  if (!program.ok()) {
    return program.status();
  }
  std::vector<std::string> words{kCompilerName};
  words.insert(words.end(), arguments.begin(), arguments.end());
  // Signals that this process caught are back to their defaults after exec;
  // an ignored one would stay ignored.
  ::signal(SIGPIPE, SIG_DFL);
  ::execv(program->c_str(), pointersTo(words).data());
  return absl::UnavailableError(
      strCat("cannot start ", *program, ": ", std::strerror(errno)));
}

absl::Status callCompiler(const std::vector<std::string> &arguments) {
  absl::StatusOr<std::string> program = findCompiler();
  if (!program.ok()) {
    return program.status();
  }
  std::vector<std::string> words{kCompilerName};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char *> pointers = pointersTo(words);
  pid_t child = ::fork();
  if (child < 0) {
    return absl::UnavailableError(
        strCat("cannot start the compiler: ", std::strerror(errno)));
  }
  if (child == 0) {
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    ::execv(program->c_str(), pointers.data());
    _exit(127);
  }
  int state = 0;
  // An interruption is the compiler's, too; it tidies up and ends.
  while (::waitpid(child, &state, 0) < 0 && errno == EINTR) {
    ::kill(child, SIGINT);
  }
  if (WIFEXITED(state)) {
    int exitStatus = WEXITSTATUS(state);
    if (exitStatus == 127) {
      return absl::UnavailableError(strCat("cannot start ", *program));
    }
    return exitStatus == 0 ? absl::OkStatus() : silentEnd(exitStatus);
  }
  if (WTERMSIG(state) == SIGINT || WTERMSIG(state) == SIGTERM) {
    return interruptedError();
  }
  return absl::InternalError(strCat("the compiler was ended by signal ",
                                    WTERMSIG(state),
                                    "; a machine short of memory does that"));
}

} // namespace quire::cli
