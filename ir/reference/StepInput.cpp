#include "ir/reference/StepInput.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace quire::reference {

static absl::Status checkRow(const StepInput &input, size_t row) {
  if (input.position[row] < 0 || input.context[row] < 0 ||
      input.context[row] > input.position[row]) {
    return absl::InvalidArgumentError(
        absl::StrCat("row ", row, " stands at position ", input.position[row],
                     " after ", input.context[row], " committed tokens"));
  }
  size_t between = input.position[row] - input.context[row];
  for (const StepInput::Group &group : input.group) {
    if (input.sequence[row] < 0 ||
        static_cast<size_t>(input.sequence[row]) >= group.pages.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("row ", row, " is of sequence ", input.sequence[row],
                       ", which has no page table"));
    }
    size_t ancestors =
        group.ancestors.empty() ? 0 : group.ancestors[row].size();
    if (ancestors != between) {
      return absl::InvalidArgumentError(absl::StrCat(
          "row ", row, " has ", ancestors, " ancestors for ", between,
          " positions between its committed tokens and itself"));
    }
  }
  return absl::OkStatus();
}

absl::Status StepInput::check() const {
  size_t count = token.size();
  if (position.size() != count || sequence.size() != count ||
      context.size() != count || (!prompt.empty() && prompt.size() != count)) {
    return absl::InvalidArgumentError(
        "the step's rows differ in how many tokens, positions, sequences, "
        "contexts and prompts they have");
  }
  if (group.empty()) {
    return absl::InvalidArgumentError("a step has at least one cache group");
  }
  for (const Group &each : group) {
    if (each.slot.size() != count ||
        (!each.ancestors.empty() && each.ancestors.size() != count)) {
      return absl::InvalidArgumentError(
          "a cache group needs a slot (and ancestors) for every row");
    }
  }
  for (int32_t row : logitRow) {
    if (row < 0 || static_cast<size_t>(row) >= count) {
      return absl::InvalidArgumentError(
          absl::StrCat("logits are wanted of row ", row, " of ", count));
    }
  }
  for (size_t row = 0; row < count; ++row) {
    if (absl::Status status = checkRow(*this, row); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

StepInput chainStep(std::span<const int32_t> tokens, int32_t first,
                    std::span<const int64_t> pageSizes, int32_t prompt) {
  StepInput step;
  int32_t count = tokens.size();
  step.prompt.assign(count, prompt < 0 ? first + count : prompt);
  for (int32_t i = 0; i < count; ++i) {
    step.token.push_back(tokens[i]);
    step.position.push_back(first + i);
    step.sequence.push_back(0);
    step.context.push_back(first + i);
    step.logitRow.push_back(i);
  }
  for (int64_t pageSize : pageSizes) {
    StepInput::Group group;
    // Pages in ascending order: a token's slot is its position.
    group.slot = step.position;
    group.pages.emplace_back();
    int64_t pages = (first + count + pageSize - 1) / pageSize;
    for (int64_t page = 0; page < pages; ++page) {
      group.pages.front().push_back(page);
    }
    step.group.push_back(std::move(group));
  }
  return step;
}

std::vector<int64_t> rowsOfForm(const StepInput &input, int64_t block,
                                RowForm form) {
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < input.rows(); ++row) {
    int64_t prompt = input.prompt.empty() ? 0 : input.prompt[row];
    bool dead = input.group.front().slot[row] < 0;
    bool materialised =
        !dead && block > 0 && input.position[row] < prompt / block * block;
    if (materialised == (form == RowForm::Materialised)) {
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<int64_t> visibleRows(const StepInput &input, int64_t row,
                                 int64_t window) {
  const StepInput::Group &group = input.group.front();
  std::vector<int64_t> rows;
  for (int64_t other = 0; other < input.rows(); ++other) {
    if (input.sequence[other] != input.sequence[row] || group.slot[other] < 0) {
      continue;
    }
    bool ancestor =
        !group.ancestors.empty() &&
        std::ranges::count(group.ancestors[row], group.slot[other]) > 0;
    bool inWindow =
        window <= 0 || input.position[other] > input.position[row] - window;
    if ((input.position[other] < input.context[row] || ancestor ||
         other == row) &&
        inWindow) {
      rows.push_back(other);
    }
  }
  std::ranges::sort(rows, {}, [&](int64_t r) { return input.position[r]; });
  return rows;
}

absl::StatusOr<std::vector<int32_t>> visibleSlots(const StepInput &input,
                                                  int64_t group, int64_t row,
                                                  int64_t pageSize,
                                                  int64_t window) {
  const StepInput::Group &kept = input.group[group];
  const std::vector<int32_t> &pages = kept.pages[input.sequence[row]];
  int64_t position = input.position[row];
  int64_t first = window > 0 ? std::max<int64_t>(0, position - window + 1) : 0;
  std::vector<int32_t> slots;
  for (int64_t p = first; p < input.context[row]; ++p) {
    size_t page = p / pageSize;
    if (page >= pages.size() || pages[page] < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("row ", row, " sees position ", p,
                       ", which has no page in its sequence"));
    }
    slots.push_back(pages[page] * pageSize + p % pageSize);
  }
  for (int64_t p = std::max<int64_t>(first, input.context[row]); p < position;
       ++p) {
    slots.push_back(kept.ancestors[row][p - input.context[row]]);
  }
  slots.push_back(kept.slot[row]);
  return slots;
}

} // namespace quire::reference
