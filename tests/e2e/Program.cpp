#include "tests/e2e/Program.h"

#include "tests/support/TemporaryDirectory.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace quire::e2e {

namespace {

using Clock = std::chrono::steady_clock;

std::string contentOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void redirect(const std::string &path, int descriptor) {
  int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  dup2(file, descriptor);
}

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

} // namespace

Outcome runProgram(const std::vector<std::string> &arguments,
                   RunLimits limits) {
  test::TemporaryDirectory folder;
  std::string output = folder.file("out"), errors = folder.file("err");
  std::vector<char *> argv;
  for (const std::string &argument : arguments) {
    argv.push_back(const_cast<char *>(argument.c_str()));
  }
  argv.push_back(nullptr);
  auto start = Clock::now();
  pid_t child = fork();
  if (child == 0) {
    redirect("/dev/null", 0);
    redirect(output, 1);
    redirect(errors, 2);
    execv(argv[0], argv.data());
    _exit(127);
  }
  Outcome outcome;
  int status = 0;
  rusage usage = {};
  bool interrupted = limits.interruptAt < 0;
  while (wait4(child, &status, WNOHANG, &usage) == 0) {
    if (!interrupted && secondsSince(start) >= limits.interruptAt) {
      kill(child, SIGINT);
      interrupted = true;
    }
    if (secondsSince(start) >= limits.seconds) {
      outcome.timedOut = true;
      kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  outcome.status =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.output = contentOf(output);
  outcome.errors = contentOf(errors);
  outcome.peakBytes = int64_t(usage.ru_maxrss) * 1024;
  return outcome;
}

std::string faultOf(const Outcome &outcome, int status) {
  std::string said = "; it said: " + outcome.errors;
  if (outcome.timedOut) {
    return "ran too long" + said;
  }
  if (outcome.status != status) {
    return "exit status " + std::to_string(outcome.status) + " instead of " +
           std::to_string(status) + said;
  }
  if (outcome.peakBytes > int64_t(1) << 30) {
    return "took " + std::to_string(outcome.peakBytes) + " bytes" + said;
  }
  std::istringstream lines(outcome.errors);
  int sentences = 0;
  for (std::string line; std::getline(lines, line);) {
    sentences += line.starts_with("quire: error: ");
  }
  if (sentences != 1) {
    return std::to_string(sentences) + " error sentences instead of one" + said;
  }
  return "";
}

} // namespace quire::e2e
