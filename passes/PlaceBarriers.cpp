#include "passes/Explain.h"
#include "passes/LaunchAccess.h"
#include "passes/Passes.h"

using namespace mlir;

namespace quire {
#define GEN_PASS_DEF_PLACEBARRIERS
#include "passes/Passes.h.inc"

namespace {

struct ByteRange {
  int64_t begin, end;
  bool meets(const ByteRange &other) const {
    return begin < other.end && other.begin < end;
  }
};

/// What launches touched since the last barrier: arena bytes and cache groups.
/// The step's logits stand behind the arena.
struct Footprint {
  llvm::SmallVector<ByteRange> reads, writes;
  llvm::SetVector<int64_t> readsGroups, writesGroups;

  void add(const Footprint &other) {
    llvm::append_range(reads, other.reads);
    llvm::append_range(writes, other.writes);
    readsGroups.insert_range(other.readsGroups);
    writesGroups.insert_range(other.writesGroups);
  }
};

bool anyMeet(ArrayRef<ByteRange> a, ArrayRef<ByteRange> b) {
  return llvm::any_of(a, [&](const ByteRange &x) {
    return llvm::any_of(b, [&](const ByteRange &y) { return x.meets(y); });
  });
}

bool anyShared(const llvm::SetVector<int64_t> &a,
               const llvm::SetVector<int64_t> &b) {
  return llvm::any_of(a, [&](int64_t group) { return b.contains(group); });
}

/// Whether `later` must wait for `earlier`.
bool dependsOn(const Footprint &later, const Footprint &earlier) {
  return anyMeet(later.reads, earlier.writes) ||
         anyMeet(later.writes, earlier.writes) ||
         anyMeet(later.writes, earlier.reads) ||
         anyShared(later.readsGroups, earlier.writesGroups) ||
         anyShared(later.writesGroups, earlier.readsGroups) ||
         anyShared(later.writesGroups, earlier.writesGroups);
}

struct PlaceBarriers : impl::PlaceBarriersBase<PlaceBarriers> {
  FailureOr<ByteRange> rangeOf(StringRef name, rt::LaunchOp launch) {
    auto buffer = getOperation().lookupSymbol<rt::BufferOp>(name);
    if (!buffer) {
      return launch.emitError("names a buffer @")
             << name << " that does not exist";
    }
    int64_t bytes = buffer.getRows() * buffer.getRowBytes();
    if (name == "logits") {
      constexpr int64_t kBehindArena = int64_t(1) << 60;
      return ByteRange{kBehindArena, kBehindArena + bytes};
    }
    if (!buffer.getOffset()) {
      return launch.emitError("names buffer @")
             << name << ", which has no place yet; run plan-memory first";
    }
    int64_t offset = *buffer.getOffset();
    return ByteRange{offset, offset + bytes};
  }

  FailureOr<Footprint> footprintOf(rt::LaunchOp launch) {
    FailureOr<LaunchAccess> access = accessOf(launch);
    if (failed(access)) {
      return failure();
    }
    Footprint result;
    for (auto [names, ranges] : {std::pair(&access->reads, &result.reads),
                                 std::pair(&access->writes, &result.writes)}) {
      for (StringRef name : *names) {
        FailureOr<ByteRange> range = rangeOf(name, launch);
        if (failed(range)) {
          return failure();
        }
        ranges->push_back(*range);
      }
    }
    result.readsGroups = access->readsGroups;
    result.writesGroups = access->writesGroups;
    return result;
  }

  /// Returns the number of barriers placed.
  FailureOr<int64_t> runOnSequence(rt::SequenceOp sequence) {
    int64_t count = 0;
    Footprint open;
    bool first = true;
    OpBuilder builder(&getContext());
    auto barrierBefore = [&](Operation *op) {
      builder.setInsertionPoint(op);
      rt::BarrierOp::create(builder, op->getLoc());
      open = {};
      ++count;
    };
    bool isStep = sequence.getSymName() == "step";
    for (Operation &op :
         llvm::make_early_inc_range(sequence.getBody().front())) {
      if (isa<rt::LoopOp>(op)) {
        // Bodies begin with a barrier; what follows the loop gets one.
        open = {};
        first = true;
        isStep = false;
        continue;
      }
      auto launch = dyn_cast<rt::LaunchOp>(op);
      if (!launch) {
        continue;
      }
      FailureOr<Footprint> footprint = footprintOf(launch);
      if (failed(footprint)) {
        return failure();
      }
      if ((first && !isStep) || dependsOn(*footprint, open)) {
        barrierBefore(launch);
      }
      first = false;
      open.add(*footprint);
    }
    if (sequence.getSymName() == "step") {
      builder.setInsertionPointToEnd(&sequence.getBody().front());
      rt::BarrierOp::create(builder, sequence.getLoc());
      ++count;
    }
    return count;
  }

  void runOnOperation() override {
    for (auto sequence : getOperation().getOps<rt::SequenceOp>()) {
      FailureOr<int64_t> count = runOnSequence(sequence);
      if (failed(count)) {
        return signalPassFailure();
      }
      auto launches = sequence.getBody().getOps<rt::LaunchOp>();
      explain(getOperation(), getArgument(),
              "@" + sequence.getSymName() + ": " + llvm::Twine(*count) +
                  " barriers for " +
                  llvm::Twine(std::distance(launches.begin(), launches.end())) +
                  " launches");
    }
  }
};

} // namespace
} // namespace quire
