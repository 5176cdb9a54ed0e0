// What a launch leaves behind in a native step, as the plain rows that the
// interpreter has, and back. Pure functions over the step's memory.

#ifndef QUIRE_TOOLS_BISECT_NATIVEBUFFER_H
#define QUIRE_TOOLS_BISECT_NATIVEBUFFER_H

#include "ir/reference/Rows.h"
#include "ir/rt/Rt.h"
#include "runtime/engine/StepAbi.h"

#include <string>
#include <vector>

namespace quire::bisect {

/// How a buffer's bytes mean rows.
enum class Stored {
  Floats,
  Int8By32,
  Int8By256,
  Routes, // rows of (expert, weight)
  Pairs   // rows (expert, row), in the order of the pairs
};

struct NativeBuffer {
  std::string name;
  rt::PartAttr writer;
  Stored stored = Stored::Floats;
  int64_t offset = -1; // in the arena; -1: the logits
  int64_t experts = 0; // of pairs
  int64_t top = 0;
};

/// The buffers that a launch of a scheduled module writes.
std::vector<NativeBuffer> buffersWrittenBy(rt::LaunchOp launch,
                                           mlir::SymbolTable &symbols);

/// `rows` by `features` values of the buffer.
reference::Rows readBuffer(const NativeBuffer &buffer, const QuireStep &step,
                           int64_t rows, int64_t features);

/// Puts the values in. Tables of pairs stay as they are: they follow from the
/// routes without any arithmetic.
void writeBuffer(const NativeBuffer &buffer, const QuireStep &step,
                 const reference::Rows &values);

} // namespace quire::bisect

#endif
