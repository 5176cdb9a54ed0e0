// A tensor as a checkpoint file stores it: a name, a number format, a shape
// (row-major, outermost dimension first, as Hugging Face writes it; GGUF's
// reversed order is turned round by its reader) and its bytes. A view owns
// nothing: the file that handed it out must outlive it.

#ifndef QUIRE_FRONTENDS_FORMATS_TENSORVIEW_H
#define QUIRE_FRONTENDS_FORMATS_TENSORVIEW_H

#include "frontends/formats/NumberFormat.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quire {

struct TensorView {
  std::string name;
  NumberFormat format = NumberFormat::F32;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
};

} // namespace quire

#endif
