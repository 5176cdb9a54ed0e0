#include "tools/compile/PrintPlan.h"

#include "frontends/formats/NumberFormat.h"
#include "ir/rt/KernelTable.h"
#include "ir/rt/Rt.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace quire {

static std::string gib(int64_t bytes) {
  return llvm::formatv("{0:F3} GiB", double(bytes) / double(1 << 30));
}

static void line(llvm::raw_ostream &os, llvm::StringRef owner, int64_t bytes,
                 const std::string &formula) {
  os << llvm::formatv("{0,-10} {1,16}  {2}\n", owner, bytes, formula);
}

static int64_t weightBytes(ModuleOp module) {
  int64_t sum = 0;
  for (auto slot : module.getOps<rt::WeightOp>()) {
    sum += slot.getBytes() * std::max<int64_t>(1, slot.getLayers().size());
  }
  return sum;
}

/// What one row of a step needs at least: a row of the embedding is nothing,
/// and of a stack of experts it reads its own.
struct RowCost {
  int64_t bytes = 0;
  int64_t multiplyAdds = 0;
};

static void addSlot(rt::PartAttr part, rt::WeightOp slot, RowCost &cost) {
  ArrayRef<int64_t> shape = slot.getShape();
  int64_t layers = std::max<int64_t>(1, slot.getLayers().size());
  int64_t matrices = layers * slot.matricesOfRow(part);
  cost.bytes += int64_t(slot.getBytes()) / slot.getMatrices() * matrices;
  if (shape.size() > 1) {
    cost.multiplyAdds +=
        ShapedType::getNumElements(shape) / slot.getMatrices() * matrices;
  }
}

static RowCost rowCost(ModuleOp module) {
  RowCost cost;
  llvm::StringSet<> counted;
  module.walk([&](rt::LaunchOp launch) {
    for (auto part : launch.getParts().getAsRange<rt::PartAttr>()) {
      if (rt::findKernel(part.getKernel())->name == "embed") {
        continue;
      }
      for (NamedAttribute argument : part.getArgs()) {
        auto name = dyn_cast<FlatSymbolRefAttr>(argument.getValue());
        auto slot = name ? module.lookupSymbol<rt::WeightOp>(name.getValue())
                         : rt::WeightOp();
        if (slot && counted.insert(name.getValue()).second) {
          addSlot(part, slot, cost);
        }
      }
    }
  });
  return cost;
}

static int64_t printGroup(rt::CacheGroupOp group, int64_t context,
                          llvm::raw_ostream &os) {
  auto format = parseNumberFormat(group.getFormat().str());
  int64_t element = numberFormatInfo(*format).blockBytes;
  int64_t layers = group.getLayers().size();
  int64_t perToken = layers * group.getKvHeads() *
                     (group.getKeyDim() + group.getValueDim()) * element;
  // A group that slides keeps its window and the page it is writing.
  int64_t kept = context;
  if (int64_t window = group.getWindow()) {
    kept = std::min<int64_t>(context, window + group.getPageSize());
  }
  line(os, "cache", perToken * kept,
       llvm::formatv("@{0}: {1} tokens x {2} layers x {3} heads x ({4} + {5}) "
                     "x {6} bytes ({7}); {8} bytes a token",
                     group.getSymName(), kept, layers, group.getKvHeads(),
                     group.getKeyDim(), group.getValueDim(), element,
                     group.getFormat(), perToken));
  return perToken * kept;
}

void printPlan(ModuleOp module, int64_t context, llvm::raw_ostream &os) {
  os << llvm::formatv("memory of one sequence of {0} tokens\n", context);
  int64_t sum = weightBytes(module);
  line(os, "weights", sum, "packed, " + gib(sum));
  RowCost row = rowCost(module);
  line(os, "a token", row.bytes,
       llvm::formatv("of them read, {0}; {1} multiply-adds with weights",
                     gib(row.bytes), row.multiplyAdds));
  int64_t cache = 0;
  for (auto group : module.getOps<rt::CacheGroupOp>()) {
    cache += printGroup(group, context, os);
  }
  sum += cache;
  if (auto arena = module->getAttrOfType<IntegerAttr>("rt.arena_bytes")) {
    line(os, "arena", arena.getInt(), "activations, placed by lifetime");
    sum += arena.getInt();
  }
  if (auto logits = module.lookupSymbol<rt::BufferOp>("logits")) {
    int64_t bytes = logits.getRows() * logits.getRowBytes();
    line(os, "logits", bytes,
         llvm::formatv("{0} rows x {1} bytes", logits.getRows(),
                       logits.getRowBytes()));
    sum += bytes;
  }
  line(os, "total", sum, gib(sum) + ", of which cache " + gib(cache));
}

} // namespace quire
