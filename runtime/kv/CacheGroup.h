// A cache group: the layers that keep the same tokens in the same format. It
// has its own page size, window and page table; all groups draw on one arena.
// Plain data, taken from the manifest.

#ifndef QUIRE_RUNTIME_KV_CACHEGROUP_H
#define QUIRE_RUNTIME_KV_CACHEGROUP_H

#include <algorithm>
#include <cstdint>
#include <string>

namespace quire {

struct CacheGroup {
  std::string name;
  int64_t layers = 0;
  int64_t kvHeads = 0;
  int64_t keyDim = 0;
  int64_t valueDim = 0;
  std::string format;
  int64_t pageSize = 0; // tokens
  int64_t window = 0;   // tokens a row sees, itself included; 0: all
  int64_t pageBytes = 0;

  /// Table entries that `tokens` positions take.
  int64_t entriesFor(int64_t tokens) const {
    return (tokens + pageSize - 1) / pageSize;
  }
  /// First position that a row at `position` still reads.
  int64_t firstVisible(int64_t position) const {
    return window == 0 ? 0 : std::max<int64_t>(0, position - window + 1);
  }
  /// Most pages a sequence of `tokens` holds at once when it is fed one token
  /// at a time.
  int64_t peakPages(int64_t tokens) const {
    if (window == 0 || tokens <= window) {
      return entriesFor(tokens);
    }
    // A window that starts at the last token of a page spans one page more
    // than the quotient, rounded up.
    return std::min(entriesFor(tokens), (window - 2) / pageSize + 2);
  }
};

} // namespace quire

#endif
