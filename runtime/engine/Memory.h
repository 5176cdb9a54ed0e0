// Memory the runtime owns in large pieces: anonymous pages, touched lazily and
// zero at first. A movable RAII value; any thread may use the bytes.

#ifndef QUIRE_RUNTIME_ENGINE_MEMORY_H
#define QUIRE_RUNTIME_ENGINE_MEMORY_H

#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace quire {

class AnonymousMemory {
public:
  AnonymousMemory() = default;
  /// Reserves exactly `bytes` (0 is fine), aligned to the system's pages.
  /// `what` names the owner in the error.
  static absl::StatusOr<AnonymousMemory> allocate(int64_t bytes,
                                                  const std::string &what);
  AnonymousMemory(AnonymousMemory &&other) noexcept { swap(other); }
  AnonymousMemory &operator=(AnonymousMemory &&other) noexcept {
    swap(other);
    return *this;
  }
  ~AnonymousMemory();

  std::byte *data() const { return base; }
  int64_t bytes() const { return size; }

private:
  void swap(AnonymousMemory &other) noexcept {
    std::swap(base, other.base);
    std::swap(size, other.size);
  }
  std::byte *base = nullptr;
  int64_t size = 0;
};

} // namespace quire

#endif
