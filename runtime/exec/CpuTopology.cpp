#include "runtime/exec/CpuTopology.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <pthread.h>
#include <sched.h>
#include <set>
#include <sstream>
#include <string>

namespace quire {

namespace {

std::string readText(const std::string &path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The quota of this process's control group and its parents, smallest first
/// found; version 2, then the two files of version 1.
std::optional<double> cpuQuota() {
  std::optional<double> smallest;
  auto consider = [&](std::optional<double> quota) {
    if (quota && (!smallest || *quota < *smallest)) {
      smallest = quota;
    }
  };
  std::istringstream groups(readText("/proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {
    if (line.rfind("0::", 0) != 0) {
      continue;
    }
    std::string group = line.substr(3);
    while (true) {
      consider(parseCpuMax(readText("/sys/fs/cgroup" + group + "/cpu.max")));
      size_t slash = group.rfind('/');
      if (slash == std::string::npos) {
        break;
      }
      group.resize(slash);
    }
  }
  for (const char *root :
       {"/sys/fs/cgroup/cpu/", "/sys/fs/cgroup/cpu,cpuacct/"}) {
    std::string quota = readText(std::string(root) + "cpu.cfs_quota_us");
    std::string period = readText(std::string(root) + "cpu.cfs_period_us");
    if (!quota.empty() && quota[0] != '-') {
      consider(parseCpuMax(quota + " " + period));
    }
  }
  return smallest;
}

} // namespace

std::vector<int> usableCores() {
  std::vector<int> result;
  std::set<std::string> cores;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &mask)) {
        continue;
      }
      std::string siblings =
          readText("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                   "/topology/thread_siblings_list");
      // Without topology every CPU counts as a core of its own.
      if (siblings.empty() || cores.insert(siblings).second) {
        result.push_back(cpu);
      }
    }
  }
  if (result.empty()) {
    result.push_back(0);
  }
  return result;
}

int defaultWorkers(const std::vector<int> &cores) {
  int count = static_cast<int>(cores.size());
  if (std::optional<double> quota = cpuQuota()) {
    // Rounded down: a throttled worker holds up everybody at a barrier.
    count = std::min(count, static_cast<int>(std::floor(*quota)));
  }
  return std::max(1, count);
}

std::optional<double> parseCpuMax(std::string_view text) {
  std::istringstream in{std::string(text)};
  double quota = 0;
  double period = 0;
  if (!(in >> quota >> period) || quota <= 0 || period <= 0) {
    return std::nullopt;
  }
  return quota / period;
}

void pinThread(std::thread &thread, int cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpu, &mask);
  (void)pthread_setaffinity_np(thread.native_handle(), sizeof(mask), &mask);
}

} // namespace quire
