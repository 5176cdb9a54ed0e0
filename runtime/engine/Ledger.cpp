#include "runtime/engine/Ledger.h"

#include "absl/strings/str_format.h"

namespace quire {

int64_t Ledger::totalBytes() const {
  int64_t total = 0;
  for (const LedgerEntry &entry : rows) {
    total += entry.bytes;
  }
  return total;
}

int64_t Ledger::bytesOf(const std::string &owner) const {
  int64_t total = 0;
  for (const LedgerEntry &entry : rows) {
    total += entry.owner == owner ? entry.bytes : 0;
  }
  return total;
}

std::string Ledger::print() const {
  std::string text = absl::StrFormat("%-10s %-24s %15s  %s\n", "owner",
                                     "buffer", "bytes", "formula");
  for (const LedgerEntry &entry : rows) {
    absl::StrAppendFormat(&text, "%-10s %-24s %15d  %s%s\n", entry.owner,
                          entry.name, entry.bytes, entry.formula,
                          entry.mapped ? " (mapped file)" : "");
  }
  absl::StrAppendFormat(&text, "%-10s %-24s %15d\n", "total", "", totalBytes());
  return text;
}

} // namespace quire
