#include "codegen/cpu/IsaLevels.h"

#include <algorithm>
#include <array>

namespace quire {

// The kernels' bitcode is compiled with the same.
static constexpr std::array kLevels = {
    IsaLevel{"avx512", "x86-64-v4", "+avx512vnni,+avx512bf16"},
    IsaLevel{"avx2", "x86-64-v3", ""},
    IsaLevel{"portable", "x86-64", ""},
};

std::span<const IsaLevel> isaLevels() { return kLevels; }

const IsaLevel *findIsaLevel(std::string_view name) {
  const auto *found = std::ranges::find(kLevels, name, &IsaLevel::name);
  return found == kLevels.end() ? nullptr : found;
}

} // namespace quire
