#include "codegen/weights/Placement.h"

#include "ir/rt/Layout.h"

#include <map>

namespace quire {

void WeightPlacement::place(rt::WeightOp slot, int64_t layer) {
  int64_t size = static_cast<int64_t>(slot.getBytes());
  placed.push_back({slot, layer, bytes, size});
  offsets[{slot.getSymNameAttr(), layer}] = bytes;
  bytes = layout::alignUp(bytes + size);
}

WeightPlacement::WeightPlacement(mlir::ModuleOp module)
    : context(module.getContext()) {
  std::map<int64_t, std::vector<rt::WeightOp>> sections; // by layer
  for (rt::WeightOp slot : module.getOps<rt::WeightOp>()) {
    if (slot.getLayers().empty()) {
      sections[kNoLayer].push_back(slot);
    }
    for (int64_t layer : slot.getLayers()) {
      sections[layer].push_back(slot);
    }
  }
  for (const auto &[layer, slots] : sections) {
    bytes = layout::alignUp(bytes, kSectionAlignment);
    for (rt::WeightOp slot : slots) {
      place(slot, layer);
    }
  }
  // The last page is whole, so that a kernel may read a cache line past a
  // weight's end.
  bytes = layout::alignUp(bytes, kSectionAlignment);
}

std::optional<int64_t> WeightPlacement::offsetOf(llvm::StringRef slot,
                                                 int64_t layer) const {
  mlir::StringAttr name = mlir::StringAttr::get(context, slot);
  auto found = offsets.find({name, layer});
  if (found == offsets.end()) {
    found = offsets.find({name, kNoLayer});
  }
  if (found == offsets.end()) {
    return std::nullopt;
  }
  return found->second;
}

} // namespace quire
