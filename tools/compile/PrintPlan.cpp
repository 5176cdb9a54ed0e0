#include "tools/compile/PrintPlan.h"

#include "frontends/formats/NumberFormat.h"
#include "ir/rt/Rt.h"

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
