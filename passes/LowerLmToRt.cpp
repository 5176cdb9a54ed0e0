#include "passes/LowerOps.h"
#include "passes/Passes.h"
#include "passes/RowwiseGroups.h"

#include "ir/rt/KernelTable.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <map>

using namespace mlir;

namespace quire {
#define GEN_PASS_DEF_LOWERLMTORT
#include "passes/Passes.h.inc"

namespace {

/// One unit of work: an op, or a group of row-wise ops.
struct Node {
  llvm::SmallVector<Operation *> ops;
  const RowwiseGroup *group = nullptr;
  int64_t level = 0;
};

/// The block's work as nodes with levels: a node stands one above the highest
/// of those it depends on. Nodes of one level are independent.
class DataFlow {
public:
  explicit DataFlow(Block &block) : groups(groupRowwise(block)) {
    for (const RowwiseGroup &group : groups) {
      nodes.push_back({group.ops, &group, 0});
      for (Operation *op : group.ops) {
        nodeOf[op] = nodes.size() - 1;
      }
    }
    for (Operation &op : block) {
      addOp(&op);
    }
    for (Node &node : nodes) {
      levelOf(node);
    }
  }

  /// Nodes by level, program order within one.
  std::map<int64_t, llvm::SmallVector<const Node *>> levels() const {
    llvm::SmallVector<const Node *> ordered;
    for (const Node &node : nodes) {
      ordered.push_back(&node);
    }
    llvm::sort(ordered, [](const Node *a, const Node *b) {
      return a->ops.front()->isBeforeInBlock(b->ops.front());
    });
    std::map<int64_t, llvm::SmallVector<const Node *>> result;
    for (const Node *node : ordered) {
      result[node->level].push_back(node);
    }
    return result;
  }

  /// Level at which `op` runs.
  int64_t level(Operation *op) const { return nodes[nodeOf.at(op)].level; }
  bool contains(Operation *op) const { return nodeOf.contains(op); }

private:
  void addOp(Operation *op) {
    if (nodeOf.contains(op) || !hasLaunch(op) || isa<lm::LayersOp>(op)) {
      return;
    }
    // A rounding that its norm does itself belongs to the norm's node.
    if (auto quantize = dyn_cast<lm::QuantizeActivationOp>(op)) {
      Operation *producer = quantize.getInput().getDefiningOp();
      if (producer != nullptr && roundingOf(producer) == quantize) {
        nodeOf[op] = nodeOf.at(producer);
        return;
      }
    }
    nodes.push_back({{op}, nullptr, 0});
    nodeOf[op] = nodes.size() - 1;
  }

  int64_t levelOf(Node &node) {
    if (node.level != 0) {
      return node.level;
    }
    int64_t below = 0;
    for (Operation *op : node.ops) {
      for (Value operand : op->getOperands()) {
        auto producer = nodeOf.find(operand.getDefiningOp());
        if (producer != nodeOf.end() && &nodes[producer->second] != &node) {
          below = std::max(below, levelOf(nodes[producer->second]));
        } else if (isa_and_nonnull<lm::LayersOp>(operand.getDefiningOp())) {
          below = std::max(below, kBehindLoop);
        }
      }
    }
    return node.level = below + 1;
  }

public:
  /// Levels above this stand behind the layer loop.
  static constexpr int64_t kBehindLoop = 1'000'000;

private:
  llvm::SmallVector<RowwiseGroup> groups;
  std::vector<Node> nodes;
  std::map<Operation *, size_t> nodeOf;
};

struct LowerLmToRt : impl::LowerLmToRtBase<LowerLmToRt> {
  using LowerLmToRtBase::LowerLmToRtBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto step = module.lookupSymbol<func::FuncOp>("step");
    if (!step) {
      module.emitError("has no function @step");
      return signalPassFailure();
    }
    LoweringScope scope(module, maxRows, maxLogitRows);
    if (failed(lowerStep(step, scope)) || failed(lowerCaches(scope))) {
      return signalPassFailure();
    }
    removeLm(module);
  }

private:
  LogicalResult lowerStep(func::FuncOp step, LoweringScope &scope);
  LogicalResult lowerKinds(lm::LayersOp loop, LoweringScope &scope);
  LogicalResult lowerBody(func::FuncOp function, LoweringScope &scope,
                          OpBuilder &to);
  LogicalResult lowerNode(const Node &node, LoweringScope &scope,
                          llvm::SmallVectorImpl<Attribute> &parts);
  LogicalResult checkCarried(func::FuncOp kind, const DataFlow &flow);
  LogicalResult checkLoopInput(lm::LayersOp loop, const DataFlow &flow);
  LogicalResult lowerCaches(LoweringScope &scope);
  void removeLm(ModuleOp module);

  /// Rows of one generated tile: some thousand elements, so that claiming a
  /// tile costs little beside it.
  static int64_t tileRows(int64_t features) {
    return std::clamp<int64_t>(8192 / std::max<int64_t>(features, 1), 1, 64);
  }

  Attribute fusedPart(const RowwiseGroup &group, LoweringScope &scope);
};

Attribute LowerLmToRt::fusedPart(const RowwiseGroup &group,
                                 LoweringScope &scope) {
  Builder b(&getContext());
  std::string name = outlineRowwise(getOperation(), group);
  llvm::SmallVector<Attribute> inputs, outputs;
  int64_t features = 1;
  for (Value value : group.inputs) {
    inputs.push_back(scope.bufferOf(value));
  }
  for (Value value : group.outputs) {
    outputs.push_back(scope.bufferOf(value));
    features = std::max(features, lm::featuresOf(value.getType()));
  }
  return makePart(
      &getContext(), name,
      {b.getNamedAttr("inputs", b.getArrayAttr(inputs)),
       b.getNamedAttr("outputs", b.getArrayAttr(outputs)),
       b.getNamedAttr("rowSet", b.getI64IntegerAttr(
                                    scope.rowSetOf(group.outputs.front()))),
       b.getNamedAttr("tileRows", b.getI64IntegerAttr(tileRows(features)))});
}

LogicalResult LowerLmToRt::lowerNode(const Node &node, LoweringScope &scope,
                                     llvm::SmallVectorImpl<Attribute> &parts) {
  if (node.group == nullptr) {
    return lowerOp(node.ops.front(), scope, parts);
  }
  if (node.group->outputs.empty()) {
    return success(); // nobody reads it
  }
  parts.push_back(fusedPart(*node.group, scope));
  return success();
}

/// What people call a launch: its ops' names in the model.
static std::string originOf(ArrayRef<const Node *> nodes) {
  llvm::SmallVector<std::string> names;
  for (const Node *node : nodes) {
    std::string name = lm::modelName(node->ops.front());
    if (!llvm::is_contained(names, name)) {
      names.push_back(name);
    }
  }
  return llvm::join(names, "+");
}

/// Predicted microseconds of one decoded token, as select-kernels noted them.
static double predictedTime(ArrayRef<const Node *> nodes) {
  double sum = 0;
  for (const Node *node : nodes) {
    for (Operation *op : node->ops) {
      auto kernel = op->getAttrOfType<DictionaryAttr>("kernel");
      auto table = kernel ? kernel.getAs<ArrayAttr>("predicted") : ArrayAttr();
      if (table && !table.empty()) {
        auto first = cast<DictionaryAttr>(table[0]);
        sum += first.getAs<FloatAttr>("microseconds").getValueAsDouble();
      }
    }
  }
  return sum;
}

LogicalResult LowerLmToRt::lowerBody(func::FuncOp function,
                                     LoweringScope &scope, OpBuilder &to) {
  Block &block = function.getBody().front();
  DataFlow flow(block);
  if (function.getName() != "step" && failed(checkCarried(function, flow))) {
    return failure();
  }
  lm::LayersOp loop;
  block.walk([&](lm::LayersOp op) { loop = op; });
  if (loop && failed(checkLoopInput(loop, flow))) {
    return failure();
  }
  auto emitLoop = [&] {
    rt::LoopOp::create(to, loop.getLoc(), loop.getKindsAttr(),
                       loop.getWhichAttr(), loop.getIndicesAttr());
    loop = nullptr;
  };
  for (const auto &[level, nodes] : flow.levels()) {
    if (loop && level > DataFlow::kBehindLoop) {
      emitLoop();
    }
    llvm::SmallVector<Attribute> parts;
    for (const Node *node : nodes) {
      if (failed(lowerNode(*node, scope, parts))) {
        return failure();
      }
    }
    if (parts.empty()) {
      continue;
    }
    auto launch = rt::LaunchOp::create(to, nodes.front()->ops.front()->getLoc(),
                                       to.getStringAttr(originOf(nodes)),
                                       to.getArrayAttr(parts));
    if (double predicted = predictedTime(nodes)) {
      launch->setAttr("predicted_microseconds", to.getF64FloatAttr(predicted));
    }
  }
  if (loop) {
    emitLoop();
  }
  return success();
}

/// The rows carried through the loop live in one buffer: whoever writes a
/// layer's result there must run after all that read what it was given.
LogicalResult LowerLmToRt::checkCarried(func::FuncOp kind,
                                        const DataFlow &flow) {
  Block &block = kind.getBody().front();
  Operation *writer = block.getTerminator()->getOperand(0).getDefiningOp();
  if (writer == nullptr || !flow.contains(writer)) {
    return success();
  }
  for (Operation *reader : block.getArgument(0).getUsers()) {
    if (flow.contains(reader) && flow.level(reader) >= flow.level(writer)) {
      return reader->emitError("reads the layer's input as late as the layer's "
                               "result is written");
    }
  }
  return success();
}

/// The layers overwrite the rows that go into the loop: nobody may read these
/// in the loop or behind it.
LogicalResult LowerLmToRt::checkLoopInput(lm::LayersOp loop,
                                          const DataFlow &flow) {
  Value input = loop.getInput();
  if (llvm::is_contained(loop.getCaptures(), input)) {
    return loop.emitError("captures the rows that its layers overwrite");
  }
  for (Operation *reader : input.getUsers()) {
    if (flow.contains(reader) && flow.level(reader) > DataFlow::kBehindLoop) {
      return reader->emitError("reads the layers' input behind the layers, "
                               "which overwrite it");
    }
  }
  return success();
}

LogicalResult LowerLmToRt::lowerKinds(lm::LayersOp loop, LoweringScope &scope) {
  FlatSymbolRefAttr carried = scope.bufferOf(loop.getInput());
  scope.setBuffer(loop.getOutput(), carried);
  OpBuilder builder(&getContext());
  for (auto [number, symbol] :
       llvm::enumerate(loop.getKinds().getAsRange<FlatSymbolRefAttr>())) {
    auto kind = getOperation().lookupSymbol<func::FuncOp>(symbol.getValue());
    std::vector<int64_t> layers;
    for (auto [which, layer] :
         llvm::zip_equal(loop.getWhich(), loop.getIndices())) {
      if (which == int64_t(number) && !llvm::is_contained(layers, layer)) {
        layers.push_back(layer);
      }
    }
    scope.slots.setLayers(kind, layers);
    Block &body = kind.getBody().front();
    scope.setBuffer(body.getArgument(0), carried);
    for (auto [i, capture] : llvm::enumerate(loop.getCaptures())) {
      if (lm::isRowsType(capture.getType())) {
        scope.setBuffer(body.getArgument(1 + i), scope.bufferOf(capture));
      }
    }
    scope.setBuffer(body.getTerminator()->getOperand(0), carried);

    builder.setInsertionPointToEnd(getOperation().getBody());
    // The function gives its name to the sequence and goes.
    std::string name = kind.getName().str();
    auto sequence =
        rt::SequenceOp::create(builder, kind.getLoc(), name + ".lowering");
    OpBuilder to = OpBuilder::atBlockEnd(&sequence.getBody().emplaceBlock());
    if (failed(lowerBody(kind, scope, to))) {
      return failure();
    }
  }
  return success();
}

LogicalResult LowerLmToRt::lowerStep(func::FuncOp step, LoweringScope &scope) {
  Block &body = step.getBody().front();
  Value logits = body.getTerminator()->getOperand(0);
  scope.setBuffer(logits, scope.createBuffer("logits", logits.getType(),
                                             rt::kRowsWithLogits));
  lm::LayersOp loop;
  WalkResult loops = step.walk([&](lm::LayersOp op) {
    bool second = bool(loop);
    loop = op;
    return second ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (loops.wasInterrupted()) {
    return loop.emitError("is a second layer loop in @step; one is supported");
  }
  if (loop) {
    scope.setBuffer(
        loop.getInput(),
        scope.createBuffer("x", loop.getInput().getType(), rt::kAllRows));
    if (failed(lowerKinds(loop, scope))) {
      return failure();
    }
  }
  OpBuilder builder(&getContext());
  builder.setInsertionPointToEnd(getOperation().getBody());
  auto sequence =
      rt::SequenceOp::create(builder, step.getLoc(), "step.lowering");
  OpBuilder to = OpBuilder::atBlockEnd(&sequence.getBody().emplaceBlock());
  return lowerBody(step, scope, to);
}

LogicalResult LowerLmToRt::lowerCaches(LoweringScope &scope) {
  auto groups = llvm::to_vector(getOperation().getOps<lm::CacheGroupOp>());
  for (auto [number, group] : llvm::enumerate(groups)) {
    OpBuilder builder(group);
    auto type = cast<lm::KvType>(group.getType());
    rt::CacheGroupOp::create(builder, group.getLoc(), group.getSymName(),
                             lm::stringifyNumberFormat(type.getFormat()),
                             int64_t(number), type.getHeads(), type.getKey(),
                             type.getValue(), type.getPage(), type.getWindow(),
                             group.getLayers());
  }
  for (lm::CacheGroupOp group : groups) {
    group.erase();
  }
  return success();
}

/// Functions give way to the sequences made from them; parameters stay, for
/// the weight slots load them.
void LowerLmToRt::removeLm(ModuleOp module) {
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (!function.getName().starts_with("fused_")) {
      function.erase();
    }
  }
  for (auto sequence : module.getOps<rt::SequenceOp>()) {
    StringRef name = sequence.getSymName();
    name.consume_back(".lowering");
    sequence.setSymName(name);
  }
}

} // namespace
} // namespace quire
