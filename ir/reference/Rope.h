// Rotary position embedding (Su et al. 2021, arXiv:2104.09864): lm.rope_table
// and lm.rope.

#ifndef QUIRE_IR_REFERENCE_ROPE_H
#define QUIRE_IR_REFERENCE_ROPE_H

#include "ir/reference/Rows.h"

namespace quire::reference {

struct RopeTable {
  std::span<const float> inverseFrequency; // one per rotary pair
  double amplitude = 1;
  /// Where above zero: positions at or past it use the raised base of
  /// "dynamic" scaling, for a sequence of position + 1 tokens.
  int64_t dynamicContext = 0;
  double dynamicBase = 0;
  double dynamicFactor = 0;
};

/// [positions, 2 * pairs]: cosines, then sines, of each position.
Rows ropeTable(const RopeTable &table, std::span<const int32_t> positions);

/// Rotates the first table.features channels of every head of headDim; pair i
/// is (i, i + half), or (2i, 2i + 1) where interleaved.
Rows rope(const Rows &x, const Rows &table, int64_t headDim, bool interleaved);

} // namespace quire::reference

#endif
