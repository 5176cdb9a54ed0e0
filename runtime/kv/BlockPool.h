// Owns the cache memory and knows who holds which page. All groups draw on
// one arena of equal slabs; a slab serves one group at a time and holds as
// many of its pages as fit exactly (the slab size is the least common multiple
// of the page sizes, so that a page number times its size is an address from
// the arena's start for every group; with one group a slab is a page).
//
// Pages are reference-counted. A page held by more than one table is never
// written: PageTable copies it first. Not thread-safe: the engine's thread
// owns it; workers only touch page bytes.

#ifndef QUIRE_RUNTIME_KV_BLOCKPOOL_H
#define QUIRE_RUNTIME_KV_BLOCKPOOL_H

#include "absl/status/statusor.h"
#include "runtime/engine/Ledger.h"
#include "runtime/engine/Memory.h"
#include "runtime/engine/StepAbi.h"
#include "runtime/kv/CacheGroup.h"

#include <memory>
#include <span>
#include <vector>

namespace quire {

using PageId = int32_t;
inline constexpr PageId kNoPage = -1;

/// Where the arena's bytes are. used + cached + free = total at all times.
struct PoolBalance {
  int64_t usedBytes = 0;   // pages some table holds
  int64_t cachedBytes = 0; // finished pages kept for their content
  int64_t freeBytes = 0;
  int64_t totalBytes = 0;
};

class BlockPool {
public:
  /// A pool that holds `tokens` tokens (rounded up to slabs) in every group,
  /// however they are split into sequences. Sequences longer than a group's
  /// window take less of it, and what they leave serves any group.
  static absl::StatusOr<std::unique_ptr<BlockPool>>
  create(std::vector<CacheGroup> groups, int64_t tokens);

  std::span<const CacheGroup> groups() const { return specs; }
  std::byte *base() const { return memory.data(); }
  std::byte *pageData(int group, PageId page) const {
    return memory.data() + int64_t{page} * specs[group].pageBytes;
  }

  /// A page with one reference, or kNoPage when none is left.
  PageId allocate(int group);
  void addReference(int group, PageId page);
  void release(int group, PageId page);
  int32_t references(int group, PageId page) const;
  /// In which form the tokens of a page attend: keys and values of later
  /// layers depend on it, so a page can only be found again by its own form.
  void setForm(int group, PageId page, QuireForm form) {
    states[group].forms[page] = form;
  }
  QuireForm formOf(int group, PageId page) const {
    return states[group].forms[page];
  }
  /// Copies the bytes of one page over another of the same group.
  void copy(int group, PageId from, PageId to);

  /// Whether `pages[g]` more pages of every group g can be had together.
  bool canAllocate(std::span<const int64_t> pages) const;
  /// The same if the pool were empty.
  bool couldEverAllocate(std::span<const int64_t> pages) const;
  /// The longest sequence, in tokens, that fits when it is alone.
  int64_t capacityTokens(int64_t upTo) const;

  PoolBalance balance() const;
  /// Recounts everything; an error describes the first disagreement.
  absl::Status checkBalance() const;
  int64_t usedPages(int group) const { return states[group].used; }
  int64_t slabCount() const { return static_cast<int64_t>(slabs.size()); }
  int64_t slabBytes() const { return bytesPerSlab; }
  void addTo(Ledger &ledger) const;

private:
  struct Slab {
    int32_t group = -1; // -1: free
    int32_t used = 0;   // pages with references
  };
  struct GroupState {
    int64_t pagesPerSlab = 0;
    int64_t used = 0;
    std::vector<int32_t> references; // by page number
    std::vector<QuireForm> forms;    // by page number
    std::vector<PageId> free;        // of slabs this group owns; a stack
  };

  BlockPool() = default;
  bool takeSlab(int group);
  void returnSlab(int64_t slab);
  int64_t slabOf(int group, PageId page) const {
    return page / states[group].pagesPerSlab;
  }

  std::vector<CacheGroup> specs;
  std::vector<GroupState> states;
  std::vector<Slab> slabs;
  std::vector<int32_t> freeSlabs; // a stack
  int64_t bytesPerSlab = 0;
  AnonymousMemory memory;
};

} // namespace quire

#endif
