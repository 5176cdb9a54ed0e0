// The checks and the look-up that all containers share: how many bytes a
// tensor must have, that no two tensors share bytes or a name, and which one
// has a given name. Immutable once built; any thread may read.

#ifndef QUIRE_FRONTENDS_FORMATS_TENSORTABLE_H
#define QUIRE_FRONTENDS_FORMATS_TENSORTABLE_H

#include "frontends/formats/TensorView.h"

#include "absl/status/statusor.h"

#include <string_view>
#include <unordered_map>
#include <vector>

namespace quire {

/// Bytes of a tensor as files store it. Refuses negative dimensions, products
/// beyond int64 and rows that are not whole blocks. Not for Int8Row.
absl::StatusOr<int64_t> tensorBytes(NumberFormat format,
                                    std::span<const int64_t> shape);

/// "[2, 3]", for messages.
std::string shapeText(std::span<const int64_t> shape);

/// Refuses tensors of one file that share a byte; empty ones share none.
absl::Status checkDisjoint(std::span<const TensorView> tensors);

/// More tensors than this in one checkpoint are refused: it bounds what the
/// descriptions in a hostile file can make a reader allocate. The largest
/// published checkpoints have about a tenth.
inline constexpr size_t kMaxTensors = 1u << 20;

class TensorTable {
public:
  TensorTable() = default;
  /// Refuses two tensors of one name.
  static absl::StatusOr<TensorTable> build(std::vector<TensorView> tensors);

  TensorTable(TensorTable &&) = default;
  TensorTable &operator=(TensorTable &&) = default;

  const std::vector<TensorView> &all() const { return tensors; }
  const TensorView *find(std::string_view name) const;

private:
  std::vector<TensorView> tensors;
  // Keys point into `tensors`, whose elements stay put when the table moves.
  std::unordered_map<std::string_view, size_t> positions;
};

} // namespace quire

#endif
