// The memory ledger: every buffer the runtime holds, with its owner, the
// formula its size follows from, and the bytes. What the ledger says is what
// is allocated. Plain data, filled while an engine loads.

#ifndef QUIRE_RUNTIME_ENGINE_LEDGER_H
#define QUIRE_RUNTIME_ENGINE_LEDGER_H

#include <cstdint>
#include <string>
#include <vector>

namespace quire {

struct LedgerEntry {
  std::string owner;   // "weights", "cache", "executor", ...
  std::string name;    // which buffer of the owner
  std::string formula; // e.g. "32 pages x 4096 bytes"
  int64_t bytes = 0;
  bool mapped = false; // file-backed: shared with the page cache
};

class Ledger {
public:
  void add(LedgerEntry entry) { rows.push_back(std::move(entry)); }
  const std::vector<LedgerEntry> &entries() const { return rows; }
  int64_t totalBytes() const;
  int64_t bytesOf(const std::string &owner) const;
  /// A table for people, one line an entry and the sum.
  std::string print() const;

private:
  std::vector<LedgerEntry> rows;
};

} // namespace quire

#endif
