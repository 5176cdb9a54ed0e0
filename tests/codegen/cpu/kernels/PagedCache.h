// A cache of two sequences over pages in a scrambled order, and steps over it,
// for the tests of attention kernels.

#ifndef QUIRE_TESTS_CODEGEN_CPU_KERNELS_PAGEDCACHE_H
#define QUIRE_TESTS_CODEGEN_CPU_KERNELS_PAGEDCACHE_H

#include "ir/rt/Layout.h"
#include "tests/codegen/cpu/kernels/Harness.h"

#include <string>
#include <vector>

namespace quire::test {

/// One row of a step.
struct Row {
  int32_t sequence;
  int32_t position;
  int32_t context;
  int32_t slot;
  std::vector<int32_t> ancestors = {};
  QuireForm form = kQuireLatent;
};

struct PagedCache {
  PagedCache(std::string format, int64_t heads, int64_t keyDim,
             int64_t valueDim, int64_t pageSize);

  int32_t slotOf(int32_t sequence, int32_t position) const;
  /// A prompt token or a decoded one.
  Row plain(int32_t sequence, int32_t position) const {
    return {sequence, position, position, slotOf(sequence, position)};
  }
  /// As an element of the cache keeps it.
  float rounded(float v) const;

  static constexpr int64_t kTokens = 512;
  std::string format;
  layout::KvPage page;
  int64_t pages;
  std::vector<int32_t> table;
  Aligned<std::byte> bytes;
};

/// The arrays of a step. Caches and rows are those of group 1; the layer is
/// the second of three.
class PagedStep {
public:
  PagedStep(PagedCache &cache, const std::vector<Row> &rows);
  PagedStep(const PagedStep &) = delete;

  /// kv_append of keys and values [rows, heads * dim].
  void append(const std::string &level, const std::vector<float> &key,
              const std::vector<float> &value);

  RowsStep base;
  QuireLayer layer = {nullptr, 5, 1};

private:
  PagedCache &cache;
  std::vector<int32_t> position, sequence, context, slot, ancestor, begin;
  std::vector<int32_t> form[2];
  const int32_t *slots[2], *tables[2], *ancestors[2];
  std::byte *caches[2];
};

/// Rows from .. from + count - 1 of [rows, width].
inline std::vector<float> cut(const std::vector<float> &all, int64_t width,
                              int64_t from, int64_t count) {
  return {all.begin() + from * width, all.begin() + (from + count) * width};
}

/// Adds row `at` of [rows, width].
inline void addRow(std::vector<float> &to, const std::vector<float> &from,
                   int64_t width, int64_t at) {
  to.insert(to.end(), from.begin() + at * width,
            from.begin() + (at + 1) * width);
}

} // namespace quire::test

#endif
