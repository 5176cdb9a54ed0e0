#include "codegen/cpu/EmitStep.h"

#include "codegen/cpu/EmitLaunch.h"
#include "codegen/cpu/IrBuilding.h"
#include "runtime/engine/StepAbi.h"

namespace quire {

using namespace mlir;
using llvm::Value;

namespace {

class StepEmitter {
public:
  StepEmitter(ModuleOp module, const StepPlan &plan,
              const WeightPlacement &placement, llvm::Module &target)
      : module(module), plan(plan), placement(placement), target(target),
        context(target.getContext()), launches(module, target),
        pointer(llvm::PointerType::getUnqual(context)),
        word(llvm::Type::getInt64Ty(context)),
        nothing(llvm::Type::getVoidTy(context)),
        layerType(llvm::StructType::get(pointer, word, word)) {}

  LogicalResult emit();

private:
  void emitAbiVersion();
  LogicalResult emitSequence(const PlannedSequence &sequence);
  LogicalResult emitOp(const PlannedSequence &sequence, Operation &op,
                       llvm::IRBuilder<> &builder, llvm::Function *function);
  void emitLaunch(const PlannedSequence &sequence, rt::LaunchOp launch,
                  llvm::IRBuilder<> &builder, llvm::Function *function);
  LogicalResult emitLoop(rt::LoopOp loop, llvm::IRBuilder<> &builder,
                         llvm::Function *function);
  FailureOr<llvm::Constant *> loopTable(rt::LoopOp loop);
  LogicalResult emitEntry();

  /// A QuireLayer as a constant.
  FailureOr<llvm::Constant *> layerConstant(Operation *user,
                                            const PlannedSequence &sequence,
                                            int64_t layer);
  int64_t indexInGroup(int64_t layer);

  ModuleOp module;
  const StepPlan &plan;
  const WeightPlacement &placement;
  llvm::Module &target;
  llvm::LLVMContext &context;
  LaunchEmitter launches;
  llvm::Type *pointer;
  llvm::Type *word;
  llvm::Type *nothing;
  llvm::StructType *layerType;                 // QuireLayer
  llvm::StringMap<llvm::Function *> functions; // by sequence
};

} // namespace

LogicalResult StepEmitter::emit() {
  target.setDataLayout(kDataLayout);
  emitAbiVersion();
  // All functions first, as a loop may stand before what it calls.
  for (const PlannedSequence &sequence : plan.sequences()) {
    rt::SequenceOp op = sequence.op;
    functions[op.getSymName()] = createInternalFunction(
        target, nothing, {pointer, pointer, pointer, pointer},
        "sequence." + op.getSymName());
  }
  for (const PlannedSequence &sequence : plan.sequences()) {
    if (failed(emitSequence(sequence))) {
      return failure();
    }
  }
  return emitEntry();
}

void StepEmitter::emitAbiVersion() {
  llvm::IRBuilder<> builder(context);
  llvm::Function *function = createInternalFunction(
      target, builder.getInt32Ty(), {}, kAbiVersionSymbol);
  function->setLinkage(llvm::GlobalValue::ExternalLinkage);
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  builder.CreateRet(builder.getInt32(kStepAbiVersion));
}

LogicalResult StepEmitter::emitSequence(const PlannedSequence &sequence) {
  rt::SequenceOp op = sequence.op;
  llvm::Function *function = functions.lookup(op.getSymName());
  constexpr llvm::StringLiteral kNames[] = {"step", "api", "worker", "layer"};
  for (auto [argument, name] : llvm::zip_equal(function->args(), kNames)) {
    argument.setName(name);
  }
  llvm::IRBuilder<> builder(
      llvm::BasicBlock::Create(context, "entry", function));
  for (Operation &inner : op.getBody().front()) {
    if (failed(emitOp(sequence, inner, builder, function))) {
      return failure();
    }
  }
  builder.CreateRetVoid();
  return success();
}

LogicalResult StepEmitter::emitOp(const PlannedSequence &sequence,
                                  Operation &op, llvm::IRBuilder<> &builder,
                                  llvm::Function *function) {
  if (auto launch = dyn_cast<rt::LaunchOp>(op)) {
    emitLaunch(sequence, launch, builder, function);
    return success();
  }
  if (isa<rt::BarrierOp>(op)) {
    Value *barrier = loadField(builder, pointer, function->getArg(1),
                               offsetof(QuireWorkerApi, barrier), "barrier");
    builder.CreateCall(llvm::FunctionType::get(nothing, {pointer}, false),
                       barrier, {function->getArg(2)});
    return success();
  }
  if (auto loop = dyn_cast<rt::LoopOp>(op)) {
    return emitLoop(loop, builder, function);
  }
  return op.emitError("does not belong into an rt.sequence");
}

void StepEmitter::emitLaunch(const PlannedSequence &sequence,
                             rt::LaunchOp launch, llvm::IRBuilder<> &builder,
                             llvm::Function *function) {
  int32_t number = plan.numberOf(launch);
  LaunchFunctions code =
      launches.emit(sequence, plan.launches()[static_cast<size_t>(number)]);
  Value *entry = loadField(builder, pointer, function->getArg(1),
                           offsetof(QuireWorkerApi, launch), "launch");
  auto *type = llvm::FunctionType::get(
      nothing,
      {pointer, builder.getInt32Ty(), pointer, pointer, pointer, pointer},
      false);
  builder.CreateCall(type, entry,
                     {function->getArg(2), builder.getInt32(number),
                      code.tileCount, code.tile, function->getArg(0),
                      function->getArg(3)});
}

int64_t StepEmitter::indexInGroup(int64_t layer) {
  for (rt::CacheGroupOp group : module.getOps<rt::CacheGroupOp>()) {
    ArrayRef<int64_t> layers = group.getLayers();
    const int64_t *found = llvm::find(layers, layer);
    if (found != layers.end()) {
      return found - layers.begin();
    }
  }
  return 0;
}

FailureOr<llvm::Constant *>
StepEmitter::layerConstant(Operation *user, const PlannedSequence &sequence,
                           int64_t layer) {
  SmallVector<int64_t> offsets;
  rt::SequenceOp op = sequence.op;
  for (StringAttr slot : sequence.slots) {
    std::optional<int64_t> offset = placement.offsetOf(slot, layer);
    if (!offset) {
      return user->emitError("sequence '")
             << op.getSymName() << "' runs for layer " << layer
             << ", which has no weight slot '" << slot.getValue() << "'";
    }
    offsets.push_back(*offset);
  }
  std::string name = ("offsets." + op.getSymName()).str();
  if (layer != kNoLayer) {
    name += "." + std::to_string(layer);
  }
  llvm::Constant *table = createConstant(
      target, llvm::ConstantDataArray::get(context, offsets), name);
  return llvm::ConstantStruct::get(
      layerType, {table, llvm::ConstantInt::getSigned(word, layer),
                  llvm::ConstantInt::get(word, indexInGroup(layer))});
}

/// The steps of the loop: [n x {sequence function, QuireLayer}].
FailureOr<llvm::Constant *> StepEmitter::loopTable(rt::LoopOp loop) {
  llvm::StructType *entryType = llvm::StructType::get(pointer, layerType);
  SmallVector<llvm::Constant *> entries;
  for (auto [which, layer] :
       llvm::zip_equal(loop.getWhich(), loop.getIndices())) {
    auto kind = cast<FlatSymbolRefAttr>(loop.getKinds()[which]);
    const PlannedSequence *sequence = plan.find(kind.getValue());
    if (sequence == nullptr) {
      return loop.emitError("there is no sequence @") << kind.getValue();
    }
    FailureOr<llvm::Constant *> constant =
        layerConstant(loop, *sequence, layer);
    if (failed(constant)) {
      return failure();
    }
    entries.push_back(llvm::ConstantStruct::get(
        entryType, {functions.lookup(kind.getValue()), *constant}));
  }
  return createConstant(
      target,
      llvm::ConstantArray::get(llvm::ArrayType::get(entryType, entries.size()),
                               entries),
      "layers");
}

LogicalResult StepEmitter::emitLoop(rt::LoopOp loop, llvm::IRBuilder<> &builder,
                                    llvm::Function *function) {
  FailureOr<llvm::Constant *> table = loopTable(loop);
  if (failed(table)) {
    return failure();
  }
  int64_t count = static_cast<int64_t>(loop.getWhich().size());
  if (count == 0) {
    return success();
  }
  constexpr int64_t kEntryBytes = sizeof(void *) + sizeof(QuireLayer);
  llvm::BasicBlock *before = builder.GetInsertBlock();
  auto *body = llvm::BasicBlock::Create(context, "loop", function);
  auto *after = llvm::BasicBlock::Create(context, "after", function);
  builder.CreateBr(body);
  builder.SetInsertPoint(body);
  llvm::PHINode *i = builder.CreatePHI(word, 2, "i");
  Value *entry = builder.CreateInBoundsPtrAdd(
      *table, builder.CreateMul(i, builder.getInt64(kEntryBytes)), "entry");
  Value *kind = builder.CreateLoad(pointer, entry, "kind");
  Value *layer = byteOffset(builder, entry, sizeof(void *));
  builder.CreateCall(
      function->getFunctionType(), kind,
      {function->getArg(0), function->getArg(1), function->getArg(2), layer});
  Value *next = builder.CreateAdd(i, builder.getInt64(1), "next");
  i->addIncoming(builder.getInt64(0), before);
  i->addIncoming(next, body);
  builder.CreateCondBr(builder.CreateICmpEQ(next, builder.getInt64(count)),
                       after, body);
  builder.SetInsertPoint(after);
  return success();
}

LogicalResult StepEmitter::emitEntry() {
  const PlannedSequence *sequence = plan.find(kStepSequence);
  FailureOr<llvm::Constant *> layer =
      layerConstant(sequence->op, *sequence, kNoLayer);
  if (failed(layer)) {
    return failure();
  }
  llvm::Function *function = createInternalFunction(
      target, nothing, {pointer, pointer, pointer}, kStepSymbol);
  function->setLinkage(llvm::GlobalValue::ExternalLinkage);
  llvm::IRBuilder<> builder(
      llvm::BasicBlock::Create(context, "entry", function));
  builder.CreateCall(functions.lookup(kStepSequence),
                     {function->getArg(0), function->getArg(1),
                      function->getArg(2),
                      createConstant(target, *layer, "outside_layers")});
  builder.CreateRetVoid();
  return success();
}

LogicalResult emitStep(ModuleOp module, const StepPlan &plan,
                       const WeightPlacement &placement, llvm::Module &target) {
  return StepEmitter(module, plan, placement, target).emit();
}

} // namespace quire
