#include "ir/reference/Interpreter.h"

#include "ir/reference/Frame.h"

#include "ir/rt/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace quire::reference {

void Frame::set(Value result, Rows rows) {
  auto shared = std::make_shared<const Rows>(std::move(rows));
  if (state.probe) {
    auto of = cast<OpResult>(result);
    state.probe(of.getOwner(), layer, of.getResultNumber(), *shared);
  }
  values[result].rows = std::move(shared);
}

LogicalResult runFunction(Interpreter::State &state, Operation *function,
                          ArrayRef<RuntimeValue> arguments, int64_t layer,
                          SmallVectorImpl<RuntimeValue> &results) {
  Frame frame{state, layer, llvm::DenseMap<Value, RuntimeValue>()};
  Block &body = function->getRegion(0).front();
  for (auto [argument, value] : llvm::zip(body.getArguments(), arguments)) {
    frame.values[argument] = value;
  }
  for (Operation &op : body) {
    if (isa<func::ReturnOp>(op)) {
      for (Value operand : op.getOperands()) {
        results.push_back(frame.values[operand]);
      }
      return success();
    }
    auto handler = state.handlers.find(op.getName().getStringRef());
    if (handler == state.handlers.end()) {
      return op.emitError()
             << "the reference interpreter does not know " << op.getName();
    }
    if (failed(handler->second(frame, &op))) {
      return failure();
    }
  }
  return function->emitError() << "does not return";
}

static CacheGroup makeGroup(lm::CacheGroupOp op) {
  auto type = cast<lm::KvType>(op.getType());
  KvCache::Shape shape;
  shape.kvHeads = type.getHeads();
  shape.keyDim = type.getKey();
  shape.valueDim = type.getValue();
  shape.format =
      *parseNumberFormat(lm::stringifyNumberFormat(type.getFormat()));
  shape.pageSize = type.getPage();
  shape.window = type.getWindow();
  shape.layers = op.getLayers().size();
  return {op.getSymName().str(),
          {op.getLayers().begin(), op.getLayers().end()},
          KvCache(shape)};
}

static CacheGroup makeGroup(rt::CacheGroupOp op) {
  KvCache::Shape shape;
  shape.kvHeads = op.getKvHeads();
  shape.keyDim = op.getKeyDim();
  shape.valueDim = op.getValueDim();
  shape.format =
      parseNumberFormat(op.getFormat().str()).value_or(NumberFormat::F32);
  shape.pageSize = op.getPageSize();
  shape.window = op.getWindow();
  shape.layers = op.getLayers().size();
  return {op.getSymName().str(),
          {op.getLayers().begin(), op.getLayers().end()},
          KvCache(shape)};
}

Interpreter::Interpreter(ModuleOp module, ParamSource &params,
                         InterpreterOptions options)
    : state(std::make_unique<State>(module, params, options.weightCacheBytes)) {
  for (auto group : module.getOps<lm::CacheGroupOp>()) {
    state->groups.push_back(makeGroup(group));
  }
  for (auto group : module.getOps<rt::CacheGroupOp>()) {
    state->groups.push_back(makeGroup(group));
  }
  if (auto block = module->getAttrOfType<IntegerAttr>(lm::kMaterialisedBlock)) {
    state->materialisedBlock = block.getInt();
  }
  addModelHandlers(state->handlers);
  addLinearHandlers(state->handlers);
  addAttentionHandlers(state->handlers);
  addElementwiseHandlers(state->handlers);
  addExpertHandlers(state->handlers);
  addLatentHandlers(state->handlers);
}

Interpreter::~Interpreter() = default;

void Interpreter::setProbe(Probe probe) { state->probe = std::move(probe); }

void Interpreter::setLaunchProbe(LaunchProbe probe) {
  state->launchProbe = std::move(probe);
}

const Rows *Interpreter::buffer(StringRef symbol) const {
  auto found = state->buffers.find(symbol);
  return found == state->buffers.end() ? nullptr : &found->second;
}

std::vector<int64_t> Interpreter::pageSizes() const {
  std::vector<int64_t> sizes;
  for (const CacheGroup &group : state->groups) {
    sizes.push_back(group.cache.shape().pageSize);
  }
  return sizes.empty() ? std::vector<int64_t>{16} : sizes;
}

KvCache &Interpreter::cache(int64_t group) {
  return state->groups[group].cache;
}

FailureOr<Rows> Interpreter::step(const StepInput &input) {
  ModuleOp module = state->module;
  if (absl::Status status = input.check(); !status.ok()) {
    module.emitError() << "the step cannot run: "
                       << std::string(status.message());
    return failure();
  }
  if (input.group.size() < state->groups.size()) {
    module.emitError() << "the step has " << input.group.size()
                       << " cache groups, the module " << state->groups.size();
    return failure();
  }
  state->input = &input;
  Operation *entry = module.lookupSymbol("step");
  if (isa_and_nonnull<rt::SequenceOp>(entry)) {
    return runRtStep(*state);
  }
  if (!isa_and_nonnull<func::FuncOp>(entry)) {
    module.emitError() << "has no function or sequence @step";
    return failure();
  }
  SmallVector<RuntimeValue> results;
  if (failed(runFunction(*state, entry, RuntimeValue(), -1, results))) {
    return failure();
  }
  return *results.front().rows;
}

} // namespace quire::reference
