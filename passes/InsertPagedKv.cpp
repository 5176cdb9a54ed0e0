#include "passes/Explain.h"
#include "passes/Passes.h"

#include <map>

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

/// An attention without a cache, and what a cache has to keep for it.
struct Site {
  Operation *attention;
  Value key;   // or the latent
  Value value; // or the rotary key
  Value batch;
  lm::KvType type;
};

/// One cache group: a cache type and the layers whose attention it serves.
struct Group {
  std::string name;
  lm::KvType type;
  std::vector<int64_t> layers;
  std::vector<Site> sites;
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

  std::optional<Site> siteOf(Operation *op) {
    lm::NumberFormat stored = *lm::symbolizeNumberFormat(format);
    auto width = [](Value rows) { return lm::featuresOf(rows.getType()); };
    if (auto attention = dyn_cast<lm::AttentionOp>(op)) {
      int64_t heads = attention.getKvHeads();
      Value key = attention.getKey(), value = attention.getValue();
      return Site{op, key, value, attention.getBatch(),
                  lm::KvType::get(&getContext(), /*latent=*/false, heads,
                                  width(key) / heads, width(value) / heads,
                                  stored, pageSize, attention.getWindow())};
    }
    if (auto attention = dyn_cast<lm::LatentAttentionOp>(op)) {
      Value key = attention.getLatent(), value = attention.getKeyRotary();
      return Site{op, key, value, attention.getBatch(),
                  lm::KvType::get(&getContext(), /*latent=*/true, /*heads=*/1,
                                  width(key), width(value), stored, pageSize,
                                  /*window=*/0)};
    }
    return std::nullopt;
  }

  /// Notes that the layers of the attention's function keep keys and values in
  /// the group; several forms of one attention may read what is kept.
  static LogicalResult addLayers(const Site &site, ArrayRef<int64_t> called,
                                 std::map<int64_t, Site> &seen, Group &group) {
    for (int64_t layer : called) {
      auto [first, isNew] = seen.try_emplace(layer, site);
      if (isNew) {
        group.layers.push_back(layer);
      } else if (first->second.attention == site.attention ||
                 first->second.key != site.key ||
                 first->second.value != site.value) {
        // It would overwrite what the first has stored.
        return site.attention->emitError("is a second attention of layer ")
               << layer << "; a layer's keys and values have one place";
      }
    }
    return success();
  }

  /// Groups in order of their first layer; named by whether they slide.
  LogicalResult collect(llvm::SmallVector<Group> &groups) {
    auto layers = layersOfKinds(getOperation());
    std::map<int64_t, Site> seen;
    WalkResult walk = getOperation().walk([&](Operation *op) {
      std::optional<Site> site = siteOf(op);
      if (!site) {
        return WalkResult::advance();
      }
      auto called = layers.find(op->getParentOfType<func::FuncOp>().getName());
      if (called == layers.end()) {
        op->emitError("stands in a function that no lm.layers calls");
        return WalkResult::interrupt();
      }
      Group *group =
          llvm::find_if(groups, [&](Group &g) { return g.type == site->type; });
      if (group == groups.end()) {
        groups.push_back({"", site->type, {}, {}});
        group = &groups.back();
      }
      group->sites.push_back(*site);
      return WalkResult(addLayers(*site, called->second, seen, *group));
    });
    for (Group &group : groups) {
      llvm::sort(group.layers);
    }
    llvm::sort(groups, [](const Group &a, const Group &b) {
      return a.layers < b.layers;
    });
    std::map<std::string, int> named;
    for (Group &group : groups) {
      group.name = group.type.getLatent()        ? "kv_latent"
                   : group.type.getWindow() == 0 ? "kv_global"
                                                 : "kv_sliding";
      if (int number = named[group.name]++) {
        group.name += std::to_string(number + 1);
      }
    }
    return failure(walk.wasInterrupted());
  }

  /// The cache behind the append of the site's keys and values.
  Value append(OpBuilder &builder, const Site &site, StringRef group) {
    auto function = site.attention->getParentOfType<func::FuncOp>();
    Location loc = site.attention->getLoc();
    auto found = lm::CacheOp::create(builder, loc, site.type, group,
                                     function.getArguments().back());
    return lm::KvAppendOp::create(builder, loc, site.type, found, site.key,
                                  site.value, site.batch);
  }

  void rewrite(const Site &site, Value cache) {
    OpBuilder builder(site.attention);
    Location loc = site.attention->getLoc();
    Operation *paged;
    if (auto op = dyn_cast<lm::AttentionOp>(site.attention)) {
      paged = lm::PagedAttentionOp::create(
          builder, loc, op.getType(), op.getQuery(), cache, op.getBatch(),
          op.getHeadsAttr(), op.getScaleAttr(), op.getSoftcapAttr());
    } else {
      auto latent = cast<lm::LatentAttentionOp>(site.attention);
      paged = lm::PagedLatentAttentionOp::create(
          builder, loc, latent.getType(), latent.getQuery(),
          latent.getQueryRotary(), cache, latent.getBatch(), latent.getKeyUp(),
          latent.getValueUp(), latent.getRowsAttr(), latent.getHeadsAttr(),
          latent.getScaleAttr());
    }
    site.attention->replaceAllUsesWith(paged);
    site.attention->erase();
  }

  /// Attentions of the same keys and values share one append, before the first.
  void rewriteAll(const Group &group) {
    std::map<std::pair<void *, void *>, Value> caches;
    for (const Site &site : group.sites) {
      Value &cache = caches[{site.key.getAsOpaquePointer(),
                             site.value.getAsOpaquePointer()}];
      if (!cache) {
        OpBuilder builder(site.attention);
        cache = append(builder, site, group.name);
      }
      rewrite(site, cache);
    }
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
      rewriteAll(group);
      int64_t bytes = format == "f32" ? 4 : 2;
      int64_t perToken =
          int64_t(group.layers.size()) * group.type.getTokenValues() * bytes;
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
