// What this machine can do at best, measured now: reading memory in a stream
// with all threads, and multiply-adds in int8 and in f32 from registers. The
// kernels are written with intrinsics and chosen by what the CPU has (AVX-512
// with VNNI, AVX2, portable C++), so that the figure does not depend on how
// this program was compiled.

#ifndef QUIRE_TOOLS_CLI_MACHINEROOF_H
#define QUIRE_TOOLS_CLI_MACHINEROOF_H

#include <cstdint>
#include <string>

namespace quire::cli {

struct MachineRoof {
  int threads = 0;
  double readBytesPerSecond = 0;
  double int8OpsPerSecond = 0; // a multiply-add counts as two
  double f32OpsPerSecond = 0;
  std::string int8Kernel; // which code gave the figure
  std::string f32Kernel;
};

/// Takes about a second. `threads` as the engine uses.
MachineRoof measureRoof(int threads);

// The register kernels: `rounds` rounds of multiply-adds on one thread. The
// result only keeps the work from being optimised away.
struct RoofKernel {
  const char *name;
  int64_t opsPerRound;
  int64_t (*run)(int64_t rounds);
};
RoofKernel int8RoofKernel();
RoofKernel f32RoofKernel();

} // namespace quire::cli

#endif
