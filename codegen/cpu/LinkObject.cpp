#include "absl/strings/str_cat.h"
#include "codegen/cpu/CompileCode.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

namespace quire {

absl::Status linkSharedObject(const std::string &relocatable,
                              const std::string &sharedObject) {
  static std::mutex lldIsNotReentrant;
  std::lock_guard lock(lldIsNotReentrant);
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  // memcpy and the like stay undefined: whoever loads the object has libc.
  const char *arguments[] = {"ld.lld",
                             "-shared",
                             "--gc-sections",
                             "--build-id=none",
                             "--threads=1",
                             "--hash-style=gnu",
                             "-z",
                             "noexecstack",
                             "-o",
                             sharedObject.c_str(),
                             relocatable.c_str()};
  lld::Result result =
      lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0) {
    return absl::InternalError(
        absl::StrCat("linking ", sharedObject, " failed: ", messages));
  }
  return absl::OkStatus();
}

} // namespace quire
