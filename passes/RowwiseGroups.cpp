#include "passes/RowwiseGroups.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace quire {

bool isRowwise(Operation *op) {
  return isa<lm::AddOp, lm::MulOp, lm::ScaleOp, lm::NonlinearityOp,
             lm::SoftcapOp, lm::RopeOp, lm::SigmoidGateOp, lm::SliceHeadsOp,
             lm::ConcatHeadsOp>(op);
}

namespace {

/// The groups while they grow.
struct Groups {
  std::vector<llvm::SetVector<Operation *>> members;
  llvm::DenseMap<Operation *, size_t> groupOf;

  bool mayJoin(Operation *op, size_t group) const {
    return llvm::none_of(op->getOperands(), [&](Value operand) {
      return dependsThroughOthers(operand.getDefiningOp(), group);
    });
  }

private:
  /// Whether `start`, outside the group, needs a result of the group. A group
  /// runs as a whole: whoever needs one of its ops waits for all that any of
  /// them needs.
  bool dependsThroughOthers(Operation *start, size_t group) const {
    if (start == nullptr || members[group].contains(start)) {
      return false;
    }
    llvm::SmallVector<Operation *> work{start};
    llvm::SmallPtrSet<Operation *, 16> seen;
    while (!work.empty()) {
      Operation *op = work.pop_back_val();
      if (op == nullptr || !seen.insert(op).second) {
        continue;
      }
      if (members[group].contains(op)) {
        return true;
      }
      if (auto own = groupOf.find(op); own != groupOf.end()) {
        llvm::append_range(work, members[own->second]);
      }
      for (Value operand : op->getOperands()) {
        work.push_back(operand.getDefiningOp());
      }
    }
    return false;
  }
};

} // namespace

static RowwiseGroup finish(const llvm::SetVector<Operation *> &ops) {
  RowwiseGroup group;
  group.ops.assign(ops.begin(), ops.end());
  llvm::SetVector<Value> inputs;
  for (Operation *op : ops) {
    for (Value operand : op->getOperands()) {
      if (!ops.contains(operand.getDefiningOp())) {
        inputs.insert(operand);
      }
    }
    bool readOutside = llvm::any_of(
        op->getUsers(), [&](Operation *user) { return !ops.contains(user); });
    if (readOutside) {
      group.outputs.push_back(op->getResult(0));
    }
  }
  group.inputs.assign(inputs.begin(), inputs.end());
  return group;
}

llvm::SmallVector<RowwiseGroup> groupRowwise(Block &block) {
  Groups groups;
  for (Operation &op : block) {
    if (!isRowwise(&op)) {
      continue;
    }
    size_t mine = groups.members.size();
    for (Value operand : op.getOperands()) {
      auto producer = groups.groupOf.find(operand.getDefiningOp());
      if (producer != groups.groupOf.end() &&
          groups.mayJoin(&op, producer->second)) {
        mine = producer->second;
        break;
      }
    }
    if (mine == groups.members.size()) {
      groups.members.emplace_back();
    }
    groups.members[mine].insert(&op);
    groups.groupOf[&op] = mine;
  }
  llvm::SmallVector<RowwiseGroup> result;
  for (const auto &ops : groups.members) {
    result.push_back(finish(ops));
  }
  return result;
}

static func::FuncOp writeFunction(ModuleOp module, const RowwiseGroup &group,
                                  StringRef name) {
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  auto types = builder.getFunctionType(TypeRange(ValueRange(group.inputs)),
                                       TypeRange(ValueRange(group.outputs)));
  auto function =
      func::FuncOp::create(builder, builder.getUnknownLoc(), name, types);
  function.setPrivate();
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  mapping.map(group.inputs, body->getArguments());
  for (Operation *op : group.ops) {
    // What was predicted for single ops says nothing of the fused loop.
    builder.clone(*op, mapping)->removeAttr("kernel");
  }
  llvm::SmallVector<Value> results;
  for (Value output : group.outputs) {
    results.push_back(mapping.lookup(output));
  }
  func::ReturnOp::create(builder, builder.getUnknownLoc(), results);
  return function;
}

std::string outlineRowwise(ModuleOp module, const RowwiseGroup &group) {
  int64_t count = 0;
  llvm::SmallVector<func::FuncOp> others;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.getName().starts_with("fused_")) {
      others.push_back(function);
      ++count;
    }
  }
  std::string name = "fused_" + std::to_string(count);
  func::FuncOp written = writeFunction(module, group, name);
  for (func::FuncOp other : others) {
    bool equal = other.getFunctionType() == written.getFunctionType() &&
                 OperationEquivalence::isRegionEquivalentTo(
                     &other.getBody(), &written.getBody(),
                     OperationEquivalence::IgnoreLocations);
    if (equal) {
      written.erase();
      return other.getName().str();
    }
  }
  return name;
}

} // namespace quire
