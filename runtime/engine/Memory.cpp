#include "runtime/engine/Memory.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace quire {

absl::StatusOr<AnonymousMemory>
AnonymousMemory::allocate(int64_t bytes, const std::string &what) {
  AnonymousMemory result;
  if (bytes < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " asks for ", bytes, " bytes"));
  }
  if (bytes == 0) {
    return result;
  }
  void *base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot reserve ", bytes, " bytes for ", what, ": ", strerror(errno)));
  }
  result.base = static_cast<std::byte *>(base);
  result.size = bytes;
  return result;
}

AnonymousMemory::~AnonymousMemory() {
  if (base) {
    munmap(base, size);
  }
}

} // namespace quire
