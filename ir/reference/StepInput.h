// The rows of one step as the interpreter takes them: the fields of
// `!lm.batch`, in containers that tests can write by hand.

#ifndef QUIRE_IR_REFERENCE_STEPINPUT_H
#define QUIRE_IR_REFERENCE_STEPINPUT_H

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>
#include <span>
#include <vector>

namespace quire::reference {

/// A row attends, in this order, to the committed tokens of its sequence at
/// positions [0, context), its uncommitted ancestors (positions
/// [context, position)) and itself; the window takes its part of that.
struct StepInput {
  std::vector<int32_t> token;    // [rows]
  std::vector<int32_t> position; // [rows]
  std::vector<int32_t> sequence; // [rows]
  std::vector<int32_t> context;  // [rows] committed tokens before the row
  std::vector<int32_t> prompt;   // [rows] tokens of its prompt; may be empty: 0
  std::vector<int32_t> logitRow; // rows whose logits are wanted, ascending

  /// What one cache group knows; there is at least one, even where the module
  /// has no cache yet.
  struct Group {
    std::vector<int32_t> slot; // [rows] page * pageSize + offset; -1: dead row
    std::vector<std::vector<int32_t>> pages; // [sequences], in position order
    std::vector<std::vector<int32_t>> ancestors; // [rows] slots; may be empty
  };
  std::vector<Group> group;

  int64_t rows() const { return token.size(); }

  /// Says what does not fit together, if anything.
  absl::Status check() const;
};

/// One sequence's tokens at positions [first, first + tokens), in pages
/// 0, 1, 2, ... of `pageSize` tokens in each group; logits of every row.
/// first = 0: a whole prompt. A decoded token is a chain of one. `prompt` is
/// the length of the sequence's prompt, the same in all its steps; -1: it ends
/// with these tokens, as when a text is scored in one step.
StepInput chainStep(std::span<const int32_t> tokens, int32_t first,
                    std::span<const int64_t> pageSizes, int32_t prompt = -1);

/// How a row takes latent attention where it has two forms.
enum class RowForm : uint8_t { Latent, Materialised };

/// The rows of one form, ascending. Positions in whole blocks of `block`
/// tokens of the prompt are materialised (0: none are), all other rows, and
/// dead ones, are latent.
std::vector<int64_t> rowsOfForm(const StepInput &input, int64_t block,
                                RowForm form);

/// Rows of this step that `row` sees, in position order: without a cache they
/// are all there is.
std::vector<int64_t> visibleRows(const StepInput &input, int64_t row,
                                 int64_t window);

/// The slots that `row` sees in group `group`, itself last, in position order.
absl::StatusOr<std::vector<int32_t>> visibleSlots(const StepInput &input,
                                                  int64_t group, int64_t row,
                                                  int64_t pageSize,
                                                  int64_t window);

} // namespace quire::reference

#endif
