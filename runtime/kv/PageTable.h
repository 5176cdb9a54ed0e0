// Which pages hold one sequence's tokens, for every cache group. Owns one
// reference on each page it lists and gives them back when destroyed. The
// engine's thread only.
//
// `reserve` makes a range of positions writable: it allocates missing pages
// and copies pages that another table shares, so that whoever else holds the
// page never sees a change.
//
// Where a model has latent attention, the first tokens of a prompt may attend
// in another form than the rest (QuireForm); the table knows how many, and
// notes with each page in which form its tokens attend.

#ifndef QUIRE_RUNTIME_KV_PAGETABLE_H
#define QUIRE_RUNTIME_KV_PAGETABLE_H

#include "runtime/kv/BlockPool.h"

#include <vector>

namespace quire {

/// The tokens of a prompt that attend on materialised keys: its whole blocks
/// of `block` tokens. The rest of it, and what is generated, does not.
inline int64_t materialisedTokens(int64_t promptLength, int64_t block) {
  return block == 0 ? 0 : promptLength / block * block;
}

class PageTable {
public:
  explicit PageTable(BlockPool &pool, int64_t materialised = 0);
  PageTable(PageTable &&other) noexcept;
  PageTable &operator=(PageTable &&other) noexcept;
  ~PageTable() { clear(); }

  /// Pages by group; entry i holds positions [i * pageSize, ...), kNoPage
  /// where it was released because it fell out of the window.
  const std::vector<PageId> &pages(int group) const { return tables[group]; }
  size_t longest() const;
  QuireForm formOf(int64_t position) const {
    return position < materialised ? kQuireMaterialised : kQuireLatent;
  }

  /// New pages that reserve(begin, end) would take, by group.
  std::vector<int64_t> neededFor(int64_t begin, int64_t end) const;
  /// Makes positions [begin, end) writable. False (and nothing changed) when
  /// the pool has too few pages.
  bool reserve(int64_t begin, int64_t end);

  /// Gives back the pages that no row at `nextPosition` or later reads.
  void releaseBefore(int64_t nextPosition);
  /// Gives back the pages beyond the first `tokens` positions.
  void truncate(int64_t tokens);
  /// A table that shares every page.
  PageTable fork() const;
  void clear() { truncate(0); }

private:
  bool mustCopy(int group, size_t entry) const;
  PageId allocate(int group, size_t entry);

  BlockPool *pool;
  int64_t materialised; // tokens
  std::vector<std::vector<PageId>> tables;
  std::vector<size_t> released; // entries before this are kNoPage, by group
};

} // namespace quire

#endif
