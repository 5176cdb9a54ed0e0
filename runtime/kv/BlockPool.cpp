#include "runtime/kv/BlockPool.h"

#include "absl/strings/str_cat.h"
#include "frontends/formats/Counted.h"
#include "runtime/engine/StatusMacros.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

namespace quire {

namespace {

constexpr int64_t kMaxArenaBytes = int64_t{1} << 46;

absl::StatusOr<int64_t> slabBytesFor(std::span<const CacheGroup> groups) {
  int64_t result = 1;
  for (const CacheGroup &group : groups) {
    if (group.pageBytes <= 0 || group.pageSize <= 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "cache group '", group.name, "' has pages of ", group.pageBytes,
          " bytes and ", group.pageSize, " tokens"));
    }
    int64_t factor = group.pageBytes / std::gcd(result, group.pageBytes);
    if (factor > kMaxArenaBytes / result) {
      return absl::InvalidArgumentError(
          absl::StrCat("the page sizes of the cache groups have no common "
                       "multiple below ",
                       kMaxArenaBytes, " bytes"));
    }
    result *= factor;
  }
  return result;
}

} // namespace

absl::StatusOr<std::unique_ptr<BlockPool>>
BlockPool::create(std::vector<CacheGroup> groups, int64_t tokens) {
  if (groups.empty() || tokens <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a cache needs at least one group and one token, got ",
                     groups.size(), " groups and ", tokens, " tokens"));
  }
  std::unique_ptr<BlockPool> pool(new BlockPool);
  QUIRE_ASSIGN_OR_RETURN(pool->bytesPerSlab, slabBytesFor(groups));
  int64_t slabCount = 0;
  for (const CacheGroup &group : groups) {
    int64_t perSlab = pool->bytesPerSlab / group.pageBytes;
    slabCount += (group.entriesFor(tokens) + perSlab - 1) / perSlab;
  }
  for (const CacheGroup &group : groups) {
    // Slots are 32-bit: page * pageSize + offset.
    int64_t perSlab = pool->bytesPerSlab / group.pageBytes;
    if (slabCount > kMaxArenaBytes / pool->bytesPerSlab ||
        slabCount >
            std::numeric_limits<int32_t>::max() / (perSlab * group.pageSize)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a cache of ", tokens, " tokens is too large; ask for fewer"));
    }
    GroupState state;
    state.pagesPerSlab = perSlab;
    state.references.resize(slabCount * perSlab);
    state.forms.resize(slabCount * perSlab);
    pool->states.push_back(std::move(state));
  }
  QUIRE_ASSIGN_OR_RETURN(
      pool->memory, AnonymousMemory::allocate(slabCount * pool->bytesPerSlab,
                                              "the key/value cache"));
  pool->specs = std::move(groups);
  pool->slabs.resize(slabCount);
  for (int64_t slab = slabCount - 1; slab >= 0; --slab) {
    pool->freeSlabs.push_back(static_cast<int32_t>(slab));
  }
  return pool;
}

bool BlockPool::takeSlab(int group) {
  if (freeSlabs.empty()) {
    return false;
  }
  int64_t slab = freeSlabs.back();
  freeSlabs.pop_back();
  slabs[slab] = {group, 0};
  GroupState &state = states[group];
  for (int64_t i = state.pagesPerSlab - 1; i >= 0; --i) {
    state.free.push_back(static_cast<PageId>(slab * state.pagesPerSlab + i));
  }
  return true;
}

void BlockPool::returnSlab(int64_t slab) {
  GroupState &state = states[slabs[slab].group];
  std::erase_if(state.free,
                [&](PageId page) { return page / state.pagesPerSlab == slab; });
  slabs[slab] = {};
  freeSlabs.push_back(static_cast<int32_t>(slab));
}

PageId BlockPool::allocate(int group) {
  GroupState &state = states[group];
  if (state.free.empty() && !takeSlab(group)) {
    return kNoPage;
  }
  PageId page = state.free.back();
  state.free.pop_back();
  state.references[page] = 1;
  ++state.used;
  ++slabs[slabOf(group, page)].used;
  return page;
}

void BlockPool::addReference(int group, PageId page) {
  ++states[group].references[page];
}

void BlockPool::release(int group, PageId page) {
  GroupState &state = states[group];
  if (--state.references[page] > 0) {
    return;
  }
  --state.used;
  state.free.push_back(page);
  int64_t slab = slabOf(group, page);
  if (--slabs[slab].used == 0) {
    returnSlab(slab);
  }
}

int32_t BlockPool::references(int group, PageId page) const {
  return states[group].references[page];
}

void BlockPool::copy(int group, PageId from, PageId to) {
  std::memcpy(pageData(group, to), pageData(group, from),
              specs[group].pageBytes);
}

bool BlockPool::canAllocate(std::span<const int64_t> pages) const {
  int64_t slabsNeeded = 0;
  for (size_t g = 0; g < states.size(); ++g) {
    int64_t missing = pages[g] - static_cast<int64_t>(states[g].free.size());
    if (missing > 0) {
      slabsNeeded +=
          (missing + states[g].pagesPerSlab - 1) / states[g].pagesPerSlab;
    }
  }
  return slabsNeeded <= static_cast<int64_t>(freeSlabs.size());
}

bool BlockPool::couldEverAllocate(std::span<const int64_t> pages) const {
  int64_t slabsNeeded = 0;
  for (size_t g = 0; g < states.size(); ++g) {
    slabsNeeded +=
        (pages[g] + states[g].pagesPerSlab - 1) / states[g].pagesPerSlab;
  }
  return slabsNeeded <= slabCount();
}

int64_t BlockPool::capacityTokens(int64_t upTo) const {
  int64_t low = 0;
  int64_t high = upTo;
  std::vector<int64_t> pages(specs.size());
  while (low < high) {
    int64_t middle = low + (high - low + 1) / 2;
    for (size_t g = 0; g < specs.size(); ++g) {
      pages[g] = specs[g].peakPages(middle);
    }
    if (couldEverAllocate(pages)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

PoolBalance BlockPool::balance() const {
  PoolBalance result;
  for (size_t g = 0; g < specs.size(); ++g) {
    result.usedBytes += states[g].used * specs[g].pageBytes;
    result.freeBytes +=
        static_cast<int64_t>(states[g].free.size()) * specs[g].pageBytes;
  }
  result.freeBytes += static_cast<int64_t>(freeSlabs.size()) * bytesPerSlab;
  result.totalBytes = memory.bytes();
  return result;
}

absl::Status BlockPool::checkBalance() const {
  for (size_t g = 0; g < specs.size(); ++g) {
    const GroupState &state = states[g];
    int64_t held =
        std::count_if(state.references.begin(), state.references.end(),
                      [](int32_t count) { return count > 0; });
    bool negative =
        std::any_of(state.references.begin(), state.references.end(),
                    [](int32_t count) { return count < 0; });
    if (held != state.used || negative) {
      return absl::InternalError(
          absl::StrCat("cache group '", specs[g].name, "' counts ", state.used,
                       " used pages, its references say ", held,
                       negative ? "; a page was released twice" : ""));
    }
  }
  PoolBalance now = balance();
  if (now.usedBytes + now.cachedBytes + now.freeBytes != now.totalBytes) {
    return absl::InternalError(
        absl::StrCat("the cache does not balance: used ", now.usedBytes,
                     " + cached ", now.cachedBytes, " + free ", now.freeBytes,
                     " is not total ", now.totalBytes));
  }
  return absl::OkStatus();
}

void BlockPool::addTo(Ledger &ledger) const {
  std::string formula = absl::StrCat(counted(slabCount(), "slab"), " x ",
                                     bytesPerSlab, " bytes; a slab is");
  for (size_t g = 0; g < specs.size(); ++g) {
    absl::StrAppend(&formula, g == 0 ? " " : " or ",
                    counted(states[g].pagesPerSlab, "page"), " of ",
                    counted(specs[g].pageSize, "token"), " (", specs[g].name,
                    ", ", specs[g].format, ", ", specs[g].pageBytes, " bytes)");
  }
  ledger.add({"cache", "pages", formula, memory.bytes()});
}

} // namespace quire
