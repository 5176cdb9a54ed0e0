#include "tools/compile/Progress.h"

#include <cstdio>
#include <sys/resource.h>
#include <unistd.h>

namespace quire {

Progress::Progress(bool enabled)
    : enabled(enabled), terminal(isatty(STDERR_FILENO) != 0) {}

void Progress::done(const std::string &stage, double seconds) {
  if (enabled) {
    std::fprintf(stderr, "%s%-28s %7.3f s\n", terminal ? "\r\x1b[K" : "",
                 stage.c_str(), seconds);
  }
}

void Progress::update(const std::string &stage, int64_t done, int64_t all) {
  auto now = Clock::now();
  bool due = now - lastDraw > std::chrono::milliseconds(100);
  if (!enabled || !terminal || !due || all <= 0) {
    return;
  }
  lastDraw = now;
  constexpr int kWidth = 24;
  double share = static_cast<double>(done) / static_cast<double>(all);
  int filled = static_cast<int>(share * kWidth);
  std::fprintf(stderr, "\r\x1b[K%-12s [%.*s%*s] %3.0f %%", stage.c_str(),
               filled, "########################", kWidth - filled, "",
               100 * share);
}

void Progress::summary(const std::string &path, int64_t bytes) {
  if (!enabled) {
    return;
  }
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  std::chrono::duration<double> spent = Clock::now() - start;
  std::fprintf(stderr, "%s: %.1f MiB in %.2f s, peak memory %.0f MiB\n",
               path.c_str(), static_cast<double>(bytes) / double(1 << 20),
               spent.count(), static_cast<double>(usage.ru_maxrss) / 1024);
}

} // namespace quire
