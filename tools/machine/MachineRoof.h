// What this machine can do at best, measured now: reading memory in a stream
// with all threads, and multiply-adds in int8 and in f32 from registers. The
// kernels are written with intrinsics and chosen by what the CPU has (AVX-512
// with VNNI, AVX2, portable C++), so that the figure does not depend on how
// this program was compiled.

#ifndef QUIRE_TOOLS_MACHINE_MACHINEROOF_H
#define QUIRE_TOOLS_MACHINE_MACHINEROOF_H

#include <cstdint>
#include <string>

namespace quire {

struct MachineRoof {
  int threads = 0;
  double readBytesPerSecond = 0;
  double int8OpsPerSecond = 0; // a multiply-add counts as two
  double f32OpsPerSecond = 0;
  std::string int8Kernel; // which code gave the figure
  std::string f32Kernel;
};

/// How much time a measurement may take.
struct RoofEffort {
  int64_t readBytes; // far more than any cache holds
  int readPasses;
  double goSeconds; // of each of three goes of a register kernel
};
inline constexpr RoofEffort kCarefulRoof = {int64_t{512} << 20, 5, 0.05};
inline constexpr RoofEffort kQuickRoof = {int64_t{256} << 20, 4, 0.01};

/// About a second, or a quarter of one when quick. `threads` as the engine
/// uses.
MachineRoof measureRoof(int threads, const RoofEffort &effort);

// The register kernels: `rounds` rounds of multiply-adds on one thread. The
// result only keeps the work from being optimised away.
struct RoofKernel {
  const char *name;
  int64_t opsPerRound;
  int64_t (*run)(int64_t rounds);
};
RoofKernel int8RoofKernel();
RoofKernel f32RoofKernel();

} // namespace quire

#endif
