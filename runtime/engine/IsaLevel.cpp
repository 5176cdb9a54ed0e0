#include "runtime/engine/IsaLevel.h"

namespace quire {

namespace {

struct Level {
  std::string_view name;
  bool (*supported)();
};

bool always() { return true; }

#if defined(__x86_64__)
bool hasAvx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt") &&
         __builtin_cpu_supports("movbe");
}
bool hasAvx512() {
  return hasAvx2() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vnni") &&
         __builtin_cpu_supports("avx512bf16");
}
constexpr Level kLevels[] = {
    {"avx512", hasAvx512}, {"avx2", hasAvx2}, {"portable", always}};
#else
constexpr Level kLevels[] = {{"portable", always}};
#endif

} // namespace

bool cpuSupportsIsa(std::string_view level) {
  for (const Level &known : kLevels) {
    if (known.name == level) {
      return known.supported();
    }
  }
  return false;
}

std::string_view bestIsaOfCpu() {
  for (const Level &known : kLevels) {
    if (known.supported()) {
      return known.name;
    }
  }
  return "portable";
}

} // namespace quire
