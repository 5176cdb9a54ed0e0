// One cache group's pages, as the interpreter keeps them: every stored number
// is rounded to the cache's format. Grows as slots are written. Not for use
// from several threads.

#ifndef QUIRE_IR_REFERENCE_KVCACHE_H
#define QUIRE_IR_REFERENCE_KVCACHE_H

#include "frontends/formats/NumberFormat.h"

#include "ir/reference/Attention.h"
#include "ir/reference/StepInput.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <vector>

namespace quire::reference {

class KvCache {
public:
  struct Shape {
    int64_t kvHeads = 0;
    int64_t keyDim = 0;
    int64_t valueDim = 0;
    NumberFormat format = NumberFormat::F32;
    int64_t pageSize = 0; // tokens
    int64_t window = 0;   // 0: everything is kept
    int64_t layers = 0;   // of the group
  };

  explicit KvCache(const Shape &shape);

  const Shape &shape() const { return kept; }

  /// Stores [kvHeads, keyDim] and [kvHeads, valueDim] in a layer's slot.
  void store(int64_t layer, int32_t slot, const float *key, const float *value);

  /// Null where the slot was never written in that layer.
  const float *key(int64_t layer, int32_t slot) const;
  const float *value(int64_t layer, int32_t slot) const;

  /// Copies what `from` holds, in every layer, to `to`: how accepted rows of a
  /// draft tree reach their canonical slots.
  void copySlot(int32_t from, int32_t to);

private:
  struct Entry {
    std::vector<float> key;
    std::vector<float> value;
  };
  const Entry *find(int64_t layer, int32_t slot) const;
  Entry &at(int64_t layer, int32_t slot);

  Shape kept;
  std::vector<std::vector<Entry>> entries; // [layers][slots]
};

/// What `row` of the step sees of its sequence in one layer, itself last. An
/// error names a position without a page or a slot that was never written.
absl::StatusOr<Visible> visibleIn(const KvCache &cache, int64_t layer,
                                  const StepInput &input, int64_t group,
                                  int64_t row, int64_t window);

/// The same of several rows, with the cache's window; a dead row sees nothing.
absl::StatusOr<std::vector<Visible>>
visibleToRows(const KvCache &cache, int64_t layer, const StepInput &input,
              int64_t group, std::span<const int64_t> rows);

} // namespace quire::reference

#endif
