#include "tests/codegen/cpu/kernels/PagedCache.h"

#include "frontends/formats/Dequantize.h"

namespace quire::test {

PagedCache::PagedCache(std::string cacheFormat, int64_t heads, int64_t keyDim,
                       int64_t valueDim, int64_t pageSize)
    : format(std::move(cacheFormat)),
      page{heads, keyDim, valueDim, format == "f32" ? 4 : 2, pageSize, 3},
      pages(kTokens / pageSize), bytes(pages * page.pageBytes()) {
  // Sequence s owns every other page, in descending order.
  for (int64_t s = 0; s < 2; ++s) {
    for (int64_t i = 0; i < pages / 2; ++i) {
      table.push_back(static_cast<int32_t>(pages - 1 - 2 * i - s));
    }
  }
}

int32_t PagedCache::slotOf(int32_t sequence, int32_t position) const {
  const int64_t entry = sequence * (pages / 2) + position / page.pageSize;
  return static_cast<int32_t>(table[static_cast<size_t>(entry)] *
                                  page.pageSize +
                              position % page.pageSize);
}

float PagedCache::rounded(float v) const {
  return format == "f32"   ? v
         : format == "f16" ? halfToFloat(floatToHalf(v))
                           : bfloat16ToFloat(floatToBfloat16(v));
}

PagedStep::PagedStep(PagedCache &cache, const std::vector<Row> &rows)
    : base(static_cast<int64_t>(rows.size())), cache(cache), begin{0} {
  for (const Row &row : rows) {
    form[row.form].push_back(static_cast<int32_t>(position.size()));
    position.push_back(row.position);
    sequence.push_back(row.sequence);
    context.push_back(row.context);
    slot.push_back(row.slot);
    ancestor.insert(ancestor.end(), row.ancestors.begin(), row.ancestors.end());
    begin.push_back(static_cast<int32_t>(ancestor.size()));
  }
  slots[1] = slot.data();
  tables[1] = cache.table.data();
  ancestors[1] = ancestor.data();
  caches[1] = cache.bytes.data();
  QuireBatch &batch = base.batch;
  batch.sequences = 2;
  batch.maxPages = static_cast<int32_t>(cache.pages / 2);
  batch.position = position.data();
  batch.sequence = sequence.data();
  batch.context = context.data();
  batch.slot = slots;
  batch.pageTable = tables;
  batch.ancestorBegin = begin.data();
  batch.ancestor = ancestors;
  for (int f : {kQuireLatent, kQuireMaterialised}) {
    batch.formRows[f] = static_cast<int32_t>(form[f].size());
    batch.formRow[f] = form[f].data();
  }
  base.step.caches = caches;
}

void PagedStep::append(const std::string &level, const std::vector<float> &key,
                       const std::vector<float> &value) {
  const layout::KvPage &page = cache.page;
  const cpu::KvAppendArgs args = {&base.step,
                                  &layer,
                                  key.data(),
                                  value.data(),
                                  page.kvHeads * page.keyDim,
                                  page.kvHeads * page.valueDim,
                                  1,
                                  page.kvHeads,
                                  page.keyDim,
                                  page.valueDim,
                                  page.pageSize,
                                  page.layers};
  runKernel(level, "kv_append_" + cache.format, &args, 0);
}

} // namespace quire::test
