// Reads the .npz archives that numpy.savez writes (stored, not compressed):
// just enough for reference data in tests.

#ifndef QUIRE_TESTS_SUPPORT_NPZ_H
#define QUIRE_TESTS_SUPPORT_NPZ_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace quire::test {

struct NpyArray {
  std::string type; // numpy's descr: "<f4", "<i8", ...
  std::vector<int64_t> shape;
  std::string bytes;

  std::vector<float> floats() const;
  std::vector<int64_t> integers() const; // of i4 or i8
};

absl::StatusOr<std::map<std::string, NpyArray>>
readNpz(const std::string &path);

} // namespace quire::test

#endif
