// How many workers make sense here: the physical cores this process may use,
// by affinity mask, hardware threads and the control group's CPU quota.

#ifndef QUIRE_RUNTIME_EXEC_CPUTOPOLOGY_H
#define QUIRE_RUNTIME_EXEC_CPUTOPOLOGY_H

#include <optional>
#include <string_view>
#include <thread>
#include <vector>

namespace quire {

/// One CPU number for each physical core in the affinity mask; never empty.
std::vector<int> usableCores();

/// One worker per usable core, fewer under a CPU quota, at least one.
int defaultWorkers(const std::vector<int> &cores);

/// CPUs' worth of quota from a cgroup v2 `cpu.max` text ("max 100000",
/// "150000 100000"); none when unlimited or unreadable.
std::optional<double> parseCpuMax(std::string_view text);

/// Best effort: a refused pin is no error.
void pinThread(std::thread &thread, int cpu);

} // namespace quire

#endif
