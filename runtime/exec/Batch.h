// Builds the flat arrays of one step (QuireBatch in StepAbi.h) from rows. Owns
// the arrays and keeps their memory from step to step. The engine's thread
// only; workers read the view while a step runs.

#ifndef QUIRE_RUNTIME_EXEC_BATCH_H
#define QUIRE_RUNTIME_EXEC_BATCH_H

#include "runtime/engine/StepAbi.h"
#include "runtime/kv/PageTable.h"

#include <span>
#include <vector>

namespace quire {

/// One token of one sequence. A chain's row has context == position and no
/// ancestors. A row of a draft tree has `context` committed tokens before it
/// and ancestors at the positions between; since several rows of a tree may
/// share a position, each is stored at a `place` of its own: an index into
/// the sequence's page table like a position, reserved by the caller.
struct BatchRow {
  int32_t token = 0;
  int32_t position = 0;
  int32_t context = 0;
  QuireRole role = kQuirePrompt;
  QuireForm form = kQuireLatent;
  bool wantsLogits = false;
  int32_t place = -1;                      // -1: at its position
  std::span<const int32_t> ancestors = {}; // places, in position order
};

class Batch {
public:
  explicit Batch(std::span<const CacheGroup> groups);

  void clear();
  /// Adds a page table; returns its row. It must stay until view() was
  /// called, with the places of all its rows reserved.
  int32_t addSequence(const PageTable &table);
  void addRow(int32_t sequence, const BatchRow &row);
  /// A row that pads: writes nothing, and nobody reads what it computes.
  void addDeadRow();

  int32_t rows() const { return static_cast<int32_t>(tokens.size()); }
  int32_t logitRows() const { return static_cast<int32_t>(logitRow.size()); }

  /// The arrays, valid until the next change.
  const QuireBatch &view();

private:
  int32_t slotOf(int group, int32_t sequence, int32_t place) const;

  std::span<const CacheGroup> groups;
  std::vector<const PageTable *> tables;
  std::vector<int32_t> tokens, positions, sequences, contexts, logitRow;
  std::vector<uint8_t> roles;
  std::vector<int32_t> ancestorBegin;
  std::vector<int32_t> formRow[2]; // by QuireForm
  // By group.
  std::vector<std::vector<int32_t>> slots, pageTables, ancestors;
  std::vector<const int32_t *> slotPointers, tablePointers, ancestorPointers;
  QuireBatch flat{};
};

} // namespace quire

#endif
