#include "passes/Explain.h"
#include "passes/Passes.h"

#include <map>
#include <set>

using namespace mlir;

namespace quire {
#define GEN_PASS_DEF_INSERTPAGEDKV
#include "passes/Passes.h.inc"

namespace {

/// Layers that each function is called for, over all loops.
std::map<StringRef, std::vector<int64_t>> layersOfKinds(ModuleOp module) {
  std::map<StringRef, std::vector<int64_t>> result;
  module.walk([&](lm::LayersOp loop) {
    auto kinds =
        llvm::to_vector(loop.getKinds().getAsValueRange<FlatSymbolRefAttr>());
    for (auto [which, layer] :
         llvm::zip_equal(loop.getWhich(), loop.getIndices())) {
      result[kinds[which]].push_back(layer);
    }
  });
  return result;
}

/// One cache group: a cache type and the layers whose attention it serves.
struct Group {
  std::string name;
  lm::KvType type;
  std::vector<int64_t> layers;
  std::vector<lm::AttentionOp> attentions;
};

struct InsertPagedKv : impl::InsertPagedKvBase<InsertPagedKv> {
  using InsertPagedKvBase::InsertPagedKvBase;

  LogicalResult checkOptions() {
    if (format != "bf16" && format != "f16" && format != "f32") {
      return emitError(getOperation().getLoc())
             << "cache format '" << format
             << "' is not supported; use bf16, f16 or f32";
    }
    if (pageSize < 1 || pageSize > 1024) {
      return emitError(getOperation().getLoc())
             << "page size " << int64_t(pageSize)
             << " is out of range; it must lie between 1 and 1024 tokens";
    }
    return success();
  }

  lm::KvType cacheType(lm::AttentionOp attention) {
    int64_t heads = attention.getKvHeads();
    return lm::KvType::get(
        &getContext(), /*latent=*/false, heads,
        lm::featuresOf(attention.getKey().getType()) / heads,
        lm::featuresOf(attention.getValue().getType()) / heads,
        *lm::symbolizeNumberFormat(format), pageSize, attention.getWindow());
  }

  /// Groups in order of their first layer; named by whether they slide.
  LogicalResult collect(llvm::SmallVector<Group> &groups) {
    auto layers = layersOfKinds(getOperation());
    std::set<int64_t> seen;
    WalkResult walk = getOperation().walk([&](lm::AttentionOp attention) {
      auto function = attention->getParentOfType<func::FuncOp>();
      auto called = layers.find(function.getName());
      if (called == layers.end()) {
        attention.emitError("stands in a function that no lm.layers calls");
        return WalkResult::interrupt();
      }
      lm::KvType type = cacheType(attention);
      Group *group =
          llvm::find_if(groups, [&](Group &g) { return g.type == type; });
      if (group == groups.end()) {
        groups.push_back({"", type, {}, {}});
        group = &groups.back();
      }
      for (int64_t layer : called->second) {
        // A second attention would overwrite what the first has stored.
        if (!seen.insert(layer).second) {
          attention.emitError("is a second attention of layer ")
              << layer << "; a layer's keys and values have one place";
          return WalkResult::interrupt();
        }
        group->layers.push_back(layer);
      }
      group->attentions.push_back(attention);
      return WalkResult::advance();
    });
    for (Group &group : groups) {
      llvm::sort(group.layers);
    }
    llvm::sort(groups, [](const Group &a, const Group &b) {
      return a.layers < b.layers;
    });
    std::map<std::string, int> named;
    for (Group &group : groups) {
      group.name = group.type.getWindow() == 0 ? "kv_global" : "kv_sliding";
      if (int number = named[group.name]++) {
        group.name += std::to_string(number + 1);
      }
    }
    return failure(walk.wasInterrupted());
  }

  void rewrite(lm::AttentionOp attention, const Group &group) {
    auto function = attention->getParentOfType<func::FuncOp>();
    Value layer = function.getArguments().back();
    OpBuilder builder(attention);
    Location loc = attention.getLoc();
    auto found =
        lm::CacheOp::create(builder, loc, group.type, group.name, layer);
    auto appended = lm::KvAppendOp::create(
        builder, loc, group.type, found, attention.getKey(),
        attention.getValue(), attention.getBatch());
    auto paged = lm::PagedAttentionOp::create(
        builder, loc, attention.getType(), attention.getQuery(), appended,
        attention.getBatch(), attention.getHeadsAttr(),
        attention.getScaleAttr(), attention.getSoftcapAttr());
    attention.replaceAllUsesWith(paged.getOutput());
    attention.erase();
  }

  void runOnOperation() override {
    llvm::SmallVector<Group> groups;
    if (failed(checkOptions()) || failed(collect(groups))) {
      return signalPassFailure();
    }
    ModuleOp module = getOperation();
    OpBuilder builder(&getContext());
    builder.setInsertionPointToStart(module.getBody());
    for (Group &group : groups) {
      lm::CacheGroupOp::create(builder,
                               NameLoc::get(builder.getStringAttr(group.name)),
                               group.name, group.type, group.layers);
      for (lm::AttentionOp attention : group.attentions) {
        rewrite(attention, group);
      }
      int64_t bytes = format == "f32" ? 4 : 2;
      int64_t perToken = int64_t(group.layers.size()) * group.type.getHeads() *
                         (group.type.getKey() + group.type.getValue()) * bytes;
      explain(module, getArgument(),
              "group @" + llvm::Twine(group.name) + ": " +
                  llvm::Twine(group.layers.size()) + " layers, window " +
                  llvm::Twine(group.type.getWindow()) + ", " +
                  llvm::Twine(format) + ", " + llvm::Twine(perToken) +
                  " bytes a token");
    }
  }
};

} // namespace
} // namespace quire
