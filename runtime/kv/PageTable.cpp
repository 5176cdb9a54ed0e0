#include "runtime/kv/PageTable.h"

#include <algorithm>

namespace quire {

PageTable::PageTable(BlockPool &pool, int64_t materialised)
    : pool(&pool), materialised(materialised), tables(pool.groups().size()),
      released(tables.size()) {}

PageTable::PageTable(PageTable &&other) noexcept
    : pool(other.pool), materialised(other.materialised),
      tables(other.tables.size()), released(other.released.size()) {
  tables.swap(other.tables);
  released.swap(other.released);
}

PageTable &PageTable::operator=(PageTable &&other) noexcept {
  std::swap(pool, other.pool);
  std::swap(materialised, other.materialised);
  tables.swap(other.tables);
  released.swap(other.released);
  return *this;
}

size_t PageTable::longest() const {
  size_t result = 0;
  for (const std::vector<PageId> &table : tables) {
    result = std::max(result, table.size());
  }
  return result;
}

bool PageTable::mustCopy(int group, size_t entry) const {
  PageId page = tables[group][entry];
  return page != kNoPage && pool->references(group, page) > 1;
}

/// A new page for an entry; a page's tokens are of one form.
PageId PageTable::allocate(int group, size_t entry) {
  PageId page = pool->allocate(group);
  int64_t position =
      static_cast<int64_t>(entry) * pool->groups()[group].pageSize;
  pool->setForm(group, page, formOf(position));
  return page;
}

std::vector<int64_t> PageTable::neededFor(int64_t begin, int64_t end) const {
  std::vector<int64_t> result(tables.size());
  for (size_t g = 0; g < tables.size(); ++g) {
    const CacheGroup &spec = pool->groups()[g];
    int64_t have = static_cast<int64_t>(tables[g].size());
    int64_t want = spec.entriesFor(end);
    result[g] = std::max<int64_t>(0, want - have);
    for (int64_t i = begin / spec.pageSize; i < std::min(have, want); ++i) {
      result[g] += mustCopy(static_cast<int>(g), i);
    }
  }
  return result;
}

bool PageTable::reserve(int64_t begin, int64_t end) {
  if (!pool->canAllocate(neededFor(begin, end))) {
    return false;
  }
  for (size_t i = 0; i < tables.size(); ++i) {
    int g = static_cast<int>(i);
    const CacheGroup &spec = pool->groups()[g];
    std::vector<PageId> &table = tables[g];
    size_t want = spec.entriesFor(end);
    for (size_t entry = begin / spec.pageSize;
         entry < std::min(table.size(), want); ++entry) {
      if (mustCopy(g, entry)) {
        PageId own = allocate(g, entry);
        pool->copy(g, table[entry], own);
        pool->release(g, table[entry]);
        table[entry] = own;
      }
    }
    while (table.size() < want) {
      table.push_back(allocate(g, table.size()));
    }
  }
  return true;
}

void PageTable::releaseBefore(int64_t nextPosition) {
  for (size_t i = 0; i < tables.size(); ++i) {
    int g = static_cast<int>(i);
    const CacheGroup &spec = pool->groups()[g];
    size_t keepFrom = std::min<size_t>(
        spec.firstVisible(nextPosition) / spec.pageSize, tables[g].size());
    for (; released[g] < keepFrom; ++released[g]) {
      pool->release(g, tables[g][released[g]]);
      tables[g][released[g]] = kNoPage;
    }
  }
}

void PageTable::truncate(int64_t tokens) {
  for (size_t i = 0; i < tables.size(); ++i) {
    int g = static_cast<int>(i);
    size_t keep = pool->groups()[g].entriesFor(tokens);
    while (tables[g].size() > keep) {
      if (tables[g].back() != kNoPage) {
        pool->release(g, tables[g].back());
      }
      tables[g].pop_back();
    }
    released[g] = std::min(released[g], keep);
  }
}

PageTable PageTable::fork() const {
  PageTable copy(*pool, materialised);
  copy.tables = tables;
  copy.released = released;
  for (size_t g = 0; g < tables.size(); ++g) {
    for (PageId page : tables[g]) {
      if (page != kNoPage) {
        pool->addReference(static_cast<int>(g), page);
      }
    }
  }
  return copy;
}

} // namespace quire
