#include "passes/Explain.h"
#include "passes/LaunchAccess.h"
#include "passes/Passes.h"

#include "ir/rt/Layout.h"

#include "llvm/ADT/MapVector.h"

#include <algorithm>
#include <limits>
#include <tuple>

using namespace mlir;

namespace quire {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/Passes.h.inc"

namespace {

/// A buffer's life in launches of the step, the layer loop being as long as
/// its longest body. Bodies of different kinds overlay each other.
struct Lifetime {
  int64_t begin = 0, end = 0; // inclusive
  int64_t bytes = 0;
  int64_t number = 0; // order of first use, for ties
  int64_t offset = -1;
  // Lives in one body only, and in which; an empty name: in the step.
  StringRef home;

  bool meets(const Lifetime &other) const {
    bool sameTime = begin <= other.end && other.begin <= end;
    bool exclusive = !home.empty() && !other.home.empty() && home != other.home;
    return sameTime && !exclusive;
  }
};

class Lifetimes {
public:
  explicit Lifetimes(ModuleOp module) : module(module) {}

  LogicalResult collect() {
    auto step = module.lookupSymbol<rt::SequenceOp>("step");
    if (!step) {
      return module.emitError("has no sequence @step");
    }
    int64_t time = 0;
    for (Operation &op : step.getBody().front()) {
      if (auto launch = dyn_cast<rt::LaunchOp>(op)) {
        if (failed(use(launch, time++, ""))) {
          return failure();
        }
      } else if (auto loop = dyn_cast<rt::LoopOp>(op)) {
        if (failed(collectLoop(loop, time))) {
          return failure();
        }
      }
    }
    return success();
  }

  llvm::MapVector<StringRef, Lifetime> buffers;

private:
  LogicalResult collectLoop(rt::LoopOp loop, int64_t &time) {
    int64_t begin = time, end = time;
    loopBegin = begin;
    for (auto symbol : loop.getKinds().getAsRange<FlatSymbolRefAttr>()) {
      auto kind = module.lookupSymbol<rt::SequenceOp>(symbol.getValue());
      int64_t at = begin;
      for (auto launch : kind.getBody().getOps<rt::LaunchOp>()) {
        if (failed(use(launch, at++, kind.getSymName()))) {
          return failure();
        }
      }
      end = std::max(end, at);
    }
    time = end;
    // What is also used outside the loop, or by several kinds, lives through
    // all of its iterations.
    for (auto &[name, life] : buffers) {
      if (life.home == kShared || life.begin < begin) {
        life.begin = std::min(life.begin, begin);
        life.end = std::max(life.end, life.end < begin ? life.end : end);
      }
    }
    return success();
  }

  LogicalResult use(rt::LaunchOp launch, int64_t time, StringRef home) {
    FailureOr<LaunchAccess> access = accessOf(launch);
    if (failed(access)) {
      return failure();
    }
    for (const auto *names : {&access->reads, &access->writes}) {
      for (StringRef name : *names) {
        if (!module.lookupSymbol<rt::BufferOp>(name)) {
          return launch.emitError("names a buffer @")
                 << name << " that does not exist";
        }
        touch(name, time, home);
      }
    }
    return success();
  }

  void touch(StringRef name, int64_t time, StringRef home) {
    auto [at, isNew] = buffers.insert({name, {}});
    Lifetime &life = at->second;
    if (isNew) {
      auto buffer = module.lookupSymbol<rt::BufferOp>(name);
      life = {time,
              time,
              layout::alignUp(buffer.getRows() * buffer.getRowBytes()),
              int64_t(buffers.size()),
              -1,
              home};
      return;
    }
    life.begin = std::min(life.begin, time);
    life.end = std::max(life.end, time);
    if (life.home != home) {
      if (home.empty() && !life.home.empty()) {
        // Carried out of the loop: no body may overwrite it meanwhile.
        life.begin = std::min(life.begin, loopBegin);
      }
      life.home = home.empty() || life.home.empty() ? StringRef() : kShared;
    }
  }

  static constexpr StringRef kShared = "";
  ModuleOp module;
  int64_t loopBegin = 0; // of the loop seen last
};

using Order = bool (*)(const Lifetime *, const Lifetime *);

/// No single order is best for every model; these are cheap to try.
constexpr Order kOrders[] = {
    // Largest first.
    [](const Lifetime *a, const Lifetime *b) {
      return std::tie(b->bytes, a->number) < std::tie(a->bytes, b->number);
    },
    // Longest lived first, then largest.
    [](const Lifetime *a, const Lifetime *b) {
      return std::tuple(b->end - b->begin, b->bytes, a->number) <
             std::tuple(a->end - a->begin, a->bytes, b->number);
    },
    // In order of first use.
    [](const Lifetime *a, const Lifetime *b) {
      return std::tuple(a->begin, b->bytes, a->number) <
             std::tuple(b->begin, a->bytes, b->number);
    },
    // Most bytes times launches first.
    [](const Lifetime *a, const Lifetime *b) {
      return std::tuple(b->bytes * (b->end - b->begin + 1), a->number) <
             std::tuple(a->bytes * (a->end - a->begin + 1), b->number);
    },
};

/// Each buffer, in the given order, at the lowest offset that is free among
/// those it meets.
int64_t place(std::vector<Lifetime *> order, Order before) {
  llvm::sort(order, before);
  int64_t arena = 0;
  std::vector<Lifetime *> placed;
  for (Lifetime *life : order) {
    std::vector<const Lifetime *> near;
    for (Lifetime *other : placed) {
      if (life->meets(*other)) {
        near.push_back(other);
      }
    }
    llvm::sort(near, [](const Lifetime *a, const Lifetime *b) {
      return a->offset < b->offset;
    });
    int64_t offset = 0;
    for (const Lifetime *other : near) {
      if (offset + life->bytes <= other->offset) {
        break;
      }
      offset = std::max(offset, other->offset + other->bytes);
    }
    life->offset = offset;
    placed.push_back(life);
    arena = std::max(arena, offset + life->bytes);
  }
  return arena;
}

/// The best of the orders; its offsets stay in the lifetimes.
int64_t placeBest(const std::vector<Lifetime *> &lives) {
  Order best = kOrders[0];
  int64_t least = std::numeric_limits<int64_t>::max();
  for (Order order : kOrders) {
    int64_t arena = place(lives, order);
    if (arena < least) {
      least = arena;
      best = order;
    }
  }
  return place(lives, best);
}

/// Most bytes alive at one time, in the fullest combination of bodies.
int64_t peakOf(const std::vector<Lifetime *> &lives) {
  int64_t peak = 0;
  for (const Lifetime *at : lives) {
    int64_t shared = 0;
    llvm::MapVector<StringRef, int64_t> byHome;
    for (const Lifetime *life : lives) {
      if (life->begin <= at->begin && at->begin <= life->end) {
        (life->home.empty() ? shared : byHome[life->home]) += life->bytes;
      }
    }
    int64_t most = 0;
    for (auto [home, bytes] : byHome) {
      most = std::max(most, bytes);
    }
    peak = std::max(peak, shared + most);
  }
  return peak;
}

struct PlanMemory : impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Lifetimes lifetimes(module);
    if (failed(lifetimes.collect())) {
      return signalPassFailure();
    }
    std::vector<Lifetime *> lives;
    for (auto &[name, life] : lifetimes.buffers) {
      if (name != "logits") {
        lives.push_back(&life);
      }
    }
    int64_t arena = placeBest(lives);
    Builder b(&getContext());
    for (auto &[name, life] : lifetimes.buffers) {
      if (name != "logits") {
        module.lookupSymbol<rt::BufferOp>(name).setOffsetAttr(
            b.getI64IntegerAttr(life.offset));
      }
    }
    // A buffer that nothing touches has no place.
    for (auto buffer :
         llvm::make_early_inc_range(module.getOps<rt::BufferOp>())) {
      if (!lifetimes.buffers.contains(buffer.getSymName())) {
        buffer.erase();
      }
    }
    module->setAttr("rt.arena_bytes", b.getI64IntegerAttr(arena));
    explain(module, getArgument(),
            llvm::Twine(lives.size()) + " buffers in an arena of " +
                llvm::Twine(arena) + " bytes; most bytes alive at once: " +
                llvm::Twine(peakOf(lives)));
  }
};

} // namespace
} // namespace quire
