#include "codegen/cpu/kernels/NativeKernels.h"

#include "codegen/cpu/kernels/Args.h"
#include "codegen/cpu/kernels/KernelList.h"

namespace quire::cpu {

#define QUIRE_DECLARE(level, name, Args)                                       \
  extern "C" int64_t level##_##name##_tiles(const Args *);                     \
  extern "C" void level##_##name##_tile(const Args *, int64_t, std::byte *);
#define QUIRE_DECLARE_PORTABLE(name, Args) QUIRE_DECLARE(portable, name, Args)
#define QUIRE_DECLARE_AVX2(name, Args) QUIRE_DECLARE(avx2, name, Args)
#define QUIRE_DECLARE_AVX512(name, Args) QUIRE_DECLARE(avx512, name, Args)
QUIRE_KERNELS(QUIRE_DECLARE_PORTABLE)
QUIRE_KERNELS(QUIRE_DECLARE_AVX2)
QUIRE_KERNELS(QUIRE_DECLARE_AVX512)

#define QUIRE_ENTRY(level, name, Args)                                         \
  NativeKernel{                                                                \
      #name,                                                                   \
      [](const void *args) {                                                   \
        return level##_##name##_tiles(static_cast<const Args *>(args));        \
      },                                                                       \
      [](const void *args, int64_t tile, std::byte *scratch) {                 \
        level##_##name##_tile(static_cast<const Args *>(args), tile, scratch); \
      }},
#define QUIRE_ENTRY_PORTABLE(name, Args) QUIRE_ENTRY(portable, name, Args)
#define QUIRE_ENTRY_AVX2(name, Args) QUIRE_ENTRY(avx2, name, Args)
#define QUIRE_ENTRY_AVX512(name, Args) QUIRE_ENTRY(avx512, name, Args)

static const NativeKernel kPortable[] = {QUIRE_KERNELS(QUIRE_ENTRY_PORTABLE)};
static const NativeKernel kAvx2[] = {QUIRE_KERNELS(QUIRE_ENTRY_AVX2)};
static const NativeKernel kAvx512[] = {QUIRE_KERNELS(QUIRE_ENTRY_AVX512)};

template <size_t count>
static const NativeKernel *find(const NativeKernel (&kernels)[count],
                                std::string_view name) {
  for (const NativeKernel &kernel : kernels) {
    if (kernel.name == name) {
      return &kernel;
    }
  }
  return nullptr;
}

const NativeKernel *findNativeKernel(std::string_view level,
                                     std::string_view name) {
  return level == "avx512" ? find(kAvx512, name)
         : level == "avx2" ? find(kAvx2, name)
                           : find(kPortable, name);
}

} // namespace quire::cpu
