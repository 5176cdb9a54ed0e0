// Progress of a compile on stderr: a bar that redraws itself on a terminal,
// plain lines otherwise.

#ifndef QUIRE_TOOLS_COMPILE_PROGRESS_H
#define QUIRE_TOOLS_COMPILE_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <string>

namespace quire {

class Progress {
public:
  explicit Progress(bool enabled);

  /// A stage is over.
  void done(const std::string &stage, double seconds);
  /// A stage is under way; redrawn at most ten times a second.
  void update(const std::string &stage, int64_t done, int64_t all);
  /// The last line: where, size, time, peak memory.
  void summary(const std::string &path, int64_t bytes);

private:
  using Clock = std::chrono::steady_clock;
  bool enabled;
  bool terminal;
  Clock::time_point start = Clock::now();
  Clock::time_point lastDraw{};
};

} // namespace quire

#endif
