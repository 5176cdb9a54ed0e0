// What each kernel is called with: the fields of its argument struct by name,
// in order, and what it does with the memory behind them. Passes ask it what a
// launch reads and writes, the emitter fills the structs by it. No MLIR here,
// and nothing of codegen/: the structs themselves are in
// codegen/cpu/kernels/Args.h, and a test holds the two against each other.
// Plain data; any thread may read it.

#ifndef QUIRE_IR_RT_KERNELTABLE_H
#define QUIRE_IR_RT_KERNELTABLE_H

#include <cstdint>
#include <span>
#include <string_view>

namespace quire::rt {

enum class FieldKind : uint8_t {
  Step,       // const QuireStep *; not named in the IR
  Layer,      // const QuireLayer *; not named in the IR
  Buffer,     // an activation buffer's symbol, or unit for null
  Weight,     // a weight slot's symbol, or unit for null
  Table,      // an array of f32 constants
  Integer,    // an i64
  Number,     // an f64
  CacheGroup, // an i64: the number of the cache group that is accessed
  Buffers     // generated kernels only: an array of buffer symbols
};

enum class Access : uint8_t { None = 0, Read = 1, Write = 2, ReadWrite = 3 };

constexpr bool reads(Access access) {
  return (static_cast<uint8_t>(access) & 1) != 0;
}
constexpr bool writes(Access access) {
  return (static_cast<uint8_t>(access) & 2) != 0;
}

/// Values of the field "rowSet": every row of the step, those with logits,
/// those of one form of latent attention, or (above kPairRows) as many less
/// kPairRows rows for each row of the step.
inline constexpr int64_t kAllRows = 0;
inline constexpr int64_t kRowsWithLogits = 1;
inline constexpr int64_t kLatentRows = 2;
inline constexpr int64_t kMaterialisedRows = 3;
inline constexpr int64_t kPairRows = 64;

struct KernelField {
  std::string_view name;
  FieldKind kind;
  Access access = Access::None;
};

/// A kernel, or a family of kernels that differ in a number format only:
/// "linear" stands for linear_q4_k, linear_bf16 and so on.
struct KernelInfo {
  std::string_view name;
  bool hasFormat; // a family: names are `name`_<number format>
  std::span<const KernelField> fields;

  /// Null when the kernel has no such field.
  const KernelField *field(std::string_view fieldName) const;
};

/// Every family. The last, "fused", is generated: fused_<n> is the module's
/// function of that name; its fields are
///   inputs, outputs: arrays of buffers, as the function's arguments and
///                    results (an output is no input's buffer),
///   rowSet: which rows, as in RowSet; tileRows: rows of one tile.
std::span<const KernelInfo> kernelTable();

/// The entry that `kernel` belongs to, null for an unknown name.
const KernelInfo *findKernel(std::string_view kernel);

/// Whether the kernel is a function of the module rather than a hot kernel.
bool isGeneratedKernel(std::string_view kernel);

} // namespace quire::rt

#endif
