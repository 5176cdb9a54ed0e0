// The machine profile: what this machine's workers can do together, as the
// cost model wants it. Measured once a machine (a quarter of a second) and
// kept in the cache directory, so that the same engine comes out every time
// although a shared host's rates differ from minute to minute.
//
// The file is JSON, and anyone may write one for another machine:
//   {"read_gbps": 52, "int8_gops": 3700, "f32_gops": 230}
// GB/s of streamed reads; multiply-adds, 10^9 a second, each counted once.

#ifndef QUIRE_TOOLS_MACHINE_MACHINEPROFILEFILE_H
#define QUIRE_TOOLS_MACHINE_MACHINEPROFILEFILE_H

#include "absl/status/statusor.h"
#include "tools/machine/MachineRoof.h"

#include <optional>
#include <string>

namespace quire {

struct MachineRates {
  double readGbps = 0;
  double int8Gops = 0;
  double f32Gops = 0;
};

/// Two significant digits: more would not be the same an hour later.
MachineRates ratesOf(const MachineRoof &roof);

absl::StatusOr<MachineRates> readMachineProfile(const std::string &path);

/// What an engine is compiled for. `name` goes into its manifest and its cache
/// key: sixteen hexadecimal digits over the rates, or "default" when there are
/// none and the compiler's constants hold.
struct MachineChoice {
  std::string name = "default";
  std::string path; // of the file the rates are from
  std::optional<MachineRates> rates;
};

/// `wish` is a profile's path, "default", or empty: then what the environment
/// variable QUIRE_MACHINE_PROFILE says, which takes the same values, and else
/// this machine's own profile, measured now if there is none or a damaged one.
/// A profile that cannot be kept is not used: without a cache directory that
/// can be written the choice is "default". An error only for a wish.
absl::StatusOr<MachineChoice> chooseMachineProfile(std::string wish);

} // namespace quire

#endif
