#include "ir/reference/KvCache.h"

#include "ir/reference/Rounding.h"

#include "absl/strings/str_cat.h"

namespace quire::reference {

KvCache::KvCache(const Shape &shape) : kept(shape), entries(shape.layers) {}

static std::vector<float> rounded(const float *values, int64_t count,
                                  NumberFormat format) {
  std::vector<float> out(values, values + count);
  for (float &value : out) {
    value = roundValue(value, format);
  }
  return out;
}

KvCache::Entry &KvCache::at(int64_t layer, int32_t slot) {
  std::vector<Entry> &slots = entries[layer];
  if (slots.size() <= static_cast<size_t>(slot)) {
    slots.resize(slot + 1);
  }
  return slots[slot];
}

const KvCache::Entry *KvCache::find(int64_t layer, int32_t slot) const {
  const std::vector<Entry> &slots = entries[layer];
  if (slot < 0 || slots.size() <= static_cast<size_t>(slot) ||
      slots[slot].key.empty()) {
    return nullptr;
  }
  return &slots[slot];
}

void KvCache::store(int64_t layer, int32_t slot, const float *key,
                    const float *value) {
  Entry &entry = at(layer, slot);
  entry.key = rounded(key, kept.kvHeads * kept.keyDim, kept.format);
  entry.value = rounded(value, kept.kvHeads * kept.valueDim, kept.format);
}

const float *KvCache::key(int64_t layer, int32_t slot) const {
  const Entry *entry = find(layer, slot);
  return entry ? entry->key.data() : nullptr;
}

const float *KvCache::value(int64_t layer, int32_t slot) const {
  const Entry *entry = find(layer, slot);
  return entry ? entry->value.data() : nullptr;
}

void KvCache::copySlot(int32_t from, int32_t to) {
  for (size_t layer = 0; layer < entries.size(); ++layer) {
    if (const Entry *source = find(layer, from)) {
      Entry copy = *source;
      at(layer, to) = std::move(copy);
    }
  }
}

absl::StatusOr<Visible> visibleIn(const KvCache &cache, int64_t layer,
                                  const StepInput &input, int64_t group,
                                  int64_t row, int64_t window) {
  auto slots = visibleSlots(input, group, row, cache.shape().pageSize, window);
  if (!slots.ok()) {
    return slots.status();
  }
  Visible visible;
  for (int32_t slot : *slots) {
    const float *key = cache.key(layer, slot);
    if (!key) {
      return absl::FailedPreconditionError(absl::StrCat(
          "row ", row, " reads slot ", slot, ", which was never written"));
    }
    visible.keys.push_back(key);
    visible.values.push_back(cache.value(layer, slot));
  }
  return visible;
}

absl::StatusOr<std::vector<Visible>>
visibleToRows(const KvCache &cache, int64_t layer, const StepInput &input,
              int64_t group, std::span<const int64_t> rows) {
  std::vector<Visible> seen(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (input.group[group].slot[rows[i]] < 0) {
      continue;
    }
    auto visible =
        visibleIn(cache, layer, input, group, rows[i], cache.shape().window);
    if (!visible.ok()) {
      return visible.status();
    }
    seen[i] = std::move(*visible);
  }
  return seen;
}

} // namespace quire::reference
