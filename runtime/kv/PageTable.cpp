#include "runtime/kv/PageTable.h"

#include <algorithm>

namespace quire {

PageTable::PageTable(BlockPool &pool)
    : pool(&pool), tables(pool.groups().size()), released(tables.size()) {}

PageTable::PageTable(PageTable &&other) noexcept
    : pool(other.pool), tables(other.tables.size()),
      released(other.released.size()) {
  tables.swap(other.tables);
  released.swap(other.released);
}

PageTable &PageTable::operator=(PageTable &&other) noexcept {
  std::swap(pool, other.pool);
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
        PageId own = pool->allocate(g);
        pool->copy(g, table[entry], own);
        pool->release(g, table[entry]);
        table[entry] = own;
      }
    }
    while (table.size() < want) {
      table.push_back(pool->allocate(g));
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
  PageTable copy(*pool);
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
