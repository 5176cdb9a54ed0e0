#include "tools/bisect/NativeCache.h"

#include "frontends/formats/Dequantize.h"
#include "ir/rt/Layout.h"

#include <algorithm>
#include <cstring>

using namespace mlir;

namespace quire::bisect {

using reference::Rows;

namespace {

/// One layer's part of a group's pages.
class LayerPages {
public:
  LayerPages(rt::CacheGroupOp group, int64_t layer, const QuireStep &step)
      : format(*parseNumberFormat(group.getFormat().str())),
        page{int64_t(group.getKvHeads()),  int64_t(group.getKeyDim()),
             int64_t(group.getValueDim()), numberFormatInfo(format).blockBytes,
             int64_t(group.getPageSize()), int64_t(group.getLayers().size())},
        base(step.caches[group.getNumber()] + layer * page.layerBytes()) {}

  int64_t heads() const { return page.kvHeads; }
  int64_t keyDim() const { return page.keyDim; }
  int64_t valueDim() const { return page.valueDim; }

  std::byte *key(int32_t slot, int64_t head) const {
    return at(slot, 0) + (head * page.pageSize + slot % page.pageSize) *
                             page.keyDim * page.elementBytes;
  }
  std::byte *value(int32_t slot, int64_t head) const {
    return at(slot, page.keyBytes()) +
           (head * page.pageSize + slot % page.pageSize) * page.valueDim *
               page.elementBytes;
  }

  void load(const std::byte *from, std::span<float> to) const {
    dequantize(format, {from, to.size() * size_t(page.elementBytes)}, to);
  }
  void store(std::span<const float> from, std::byte *to) const {
    for (float value : from) {
      uint16_t half = format == NumberFormat::F16 ? floatToHalf(value)
                                                  : floatToBfloat16(value);
      bool whole = format == NumberFormat::F32;
      std::memcpy(to, whole ? static_cast<void *>(&value) : &half,
                  size_t(page.elementBytes));
      to += page.elementBytes;
    }
  }

private:
  std::byte *at(int32_t slot, int64_t offset) const {
    return base + slot / page.pageSize * page.pageBytes() + offset;
  }

  NumberFormat format;
  layout::KvPage page;
  std::byte *base;
};

/// Calls `visit(place, values)` for each head's key and value of each row.
template <typename RowsOf, typename Visit>
void forEntries(const LayerPages &pages, const int32_t *slots, RowsOf &rows,
                Visit visit) {
  auto part = [](auto &of, int64_t row, int64_t head, int64_t dim) {
    return of.row(row).subspan(size_t(head * dim), size_t(dim));
  };
  for (int64_t r = 0; r < rows.keys.rows; ++r) {
    for (int64_t head = 0; slots[r] >= 0 && head < pages.heads(); ++head) {
      visit(pages.key(slots[r], head),
            part(rows.keys, r, head, pages.keyDim()));
      visit(pages.value(slots[r], head),
            part(rows.values, r, head, pages.valueDim()));
    }
  }
}

const int32_t *slotsOf(rt::CacheGroupOp group, const QuireStep &step) {
  return step.batch->slot[group.getNumber()];
}

} // namespace

CacheRows readCache(rt::CacheGroupOp group, int64_t layer,
                    const QuireStep &step) {
  LayerPages pages(group, layer, step);
  int64_t rows = step.batch->rows;
  CacheRows out = {Rows(rows, pages.heads() * pages.keyDim()),
                   Rows(rows, pages.heads() * pages.valueDim())};
  forEntries(pages, slotsOf(group, step), out,
             [&](const std::byte *place, std::span<float> values) {
               pages.load(place, values);
             });
  return out;
}

void writeCache(rt::CacheGroupOp group, int64_t layer, const QuireStep &step,
                const CacheRows &rows) {
  LayerPages pages(group, layer, step);
  forEntries(pages, slotsOf(group, step), rows,
             [&](std::byte *place, std::span<const float> values) {
               pages.store(values, place);
             });
}

CacheRows readCache(const reference::KvCache &cache, int64_t layer,
                    int64_t rows) {
  const reference::KvCache::Shape &shape = cache.shape();
  CacheRows out = {Rows(rows, shape.kvHeads * shape.keyDim),
                   Rows(rows, shape.kvHeads * shape.valueDim)};
  for (int64_t r = 0; r < rows; ++r) {
    auto slot = static_cast<int32_t>(r);
    std::copy_n(cache.key(layer, slot), out.keys.features,
                out.keys.row(r).data());
    std::copy_n(cache.value(layer, slot), out.values.features,
                out.values.row(r).data());
  }
  return out;
}

} // namespace quire::bisect
