#include "runtime/exec/Batch.h"

#include <algorithm>

namespace quire {

Batch::Batch(std::span<const CacheGroup> groups)
    : groups(groups), slots(groups.size()), pageTables(groups.size()),
      ancestors(groups.size()), slotPointers(groups.size()),
      tablePointers(groups.size()), ancestorPointers(groups.size()) {
  clear();
}

void Batch::clear() {
  tables.clear();
  for (auto *array : {&tokens, &positions, &sequences, &contexts, &logitRow}) {
    array->clear();
  }
  roles.clear();
  for (std::vector<int32_t> &list : formRow) {
    list.clear();
  }
  ancestorBegin.assign(1, 0);
  for (size_t g = 0; g < groups.size(); ++g) {
    slots[g].clear();
    ancestors[g].clear();
  }
}

int32_t Batch::addSequence(const PageTable &table) {
  tables.push_back(&table);
  return static_cast<int32_t>(tables.size()) - 1;
}

int32_t Batch::slotOf(int group, int32_t sequence, int32_t place) const {
  int32_t pageSize = static_cast<int32_t>(groups[group].pageSize);
  PageId page = tables[sequence]->pages(group)[place / pageSize];
  return page == kNoPage ? -1 : page * pageSize + place % pageSize;
}

void Batch::addRow(int32_t sequence, const BatchRow &row) {
  if (row.wantsLogits) {
    logitRow.push_back(rows());
  }
  formRow[row.form].push_back(rows());
  tokens.push_back(row.token);
  positions.push_back(row.position);
  sequences.push_back(sequence);
  contexts.push_back(row.context);
  roles.push_back(row.role);
  int32_t place = row.place < 0 ? row.position : row.place;
  for (size_t i = 0; i < groups.size(); ++i) {
    int g = static_cast<int>(i);
    slots[g].push_back(slotOf(g, sequence, place));
    for (int32_t ancestor : row.ancestors) {
      ancestors[g].push_back(slotOf(g, sequence, ancestor));
    }
  }
  ancestorBegin.push_back(ancestorBegin.back() +
                          static_cast<int32_t>(row.ancestors.size()));
}

void Batch::addDeadRow() {
  formRow[kQuireLatent].push_back(rows());
  tokens.push_back(0);
  positions.push_back(0);
  sequences.push_back(0);
  contexts.push_back(0);
  roles.push_back(kQuirePrompt);
  for (std::vector<int32_t> &slot : slots) {
    slot.push_back(-1);
  }
  ancestorBegin.push_back(ancestorBegin.back());
}

const QuireBatch &Batch::view() {
  size_t maxPages = 1;
  for (const PageTable *table : tables) {
    maxPages = std::max(maxPages, table->longest());
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    int g = static_cast<int>(i);
    pageTables[g].assign(std::max<size_t>(1, tables.size()) * maxPages,
                         kNoPage);
    for (size_t s = 0; s < tables.size(); ++s) {
      const std::vector<PageId> &pages = tables[s]->pages(g);
      std::copy(pages.begin(), pages.end(),
                pageTables[g].begin() + s * maxPages);
    }
    slotPointers[g] = slots[g].data();
    tablePointers[g] = pageTables[g].data();
    ancestorPointers[g] = ancestors[g].data();
  }
  flat = {
      .rows = rows(),
      .logitRows = logitRows(),
      .sequences = static_cast<int32_t>(tables.size()),
      .maxPages = static_cast<int32_t>(maxPages),
      .token = tokens.data(),
      .position = positions.data(),
      .sequence = sequences.data(),
      .context = contexts.data(),
      .role = roles.data(),
      .logitRow = logitRow.data(),
      .formRows = {static_cast<int32_t>(formRow[kQuireLatent].size()),
                   static_cast<int32_t>(formRow[kQuireMaterialised].size())},
      .formRow = {formRow[kQuireLatent].data(),
                  formRow[kQuireMaterialised].data()},
      .slot = slotPointers.data(),
      .pageTable = tablePointers.data(),
      .ancestorBegin = ancestorBegin.data(),
      .ancestor = ancestorPointers.data()};
  return flat;
}

} // namespace quire
