#include "codegen/cpu/EmitLaunch.h"

#include "codegen/cpu/IrBuilding.h"
#include "codegen/cpu/kernels/Args.h"
#include "ir/rt/KernelTable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace quire {

using namespace mlir;
using llvm::Value;
using rt::FieldKind;

LaunchEmitter::LaunchEmitter(ModuleOp module, llvm::Module &target)
    : symbols(module), target(target),
      pointer(llvm::PointerType::getUnqual(target.getContext())),
      word(llvm::Type::getInt64Ty(target.getContext())) {}

LaunchFunctions LaunchEmitter::emit(const PlannedSequence &sequence,
                                    const PlannedLaunch &launch) {
  return {emitTileCount(sequence, launch), emitTile(sequence, launch)};
}

LaunchEmitter::Frame::Frame(const PlannedSequence &sequence,
                            llvm::Function *function)
    : sequence(sequence), builder(llvm::BasicBlock::Create(
                              function->getContext(), "entry", function)),
      step(function->getArg(0)), layer(function->getArg(1)) {
  step->setName("step");
  layer->setName("layer");
}

llvm::Function *LaunchEmitter::emitTileCount(const PlannedSequence &sequence,
                                             const PlannedLaunch &launch) {
  llvm::Function *function = createInternalFunction(
      target, word, {pointer, pointer}, "tiles." + launch.name);
  Frame frame(sequence, function);
  rt::LaunchOp op = launch.op;
  Value *count = nullptr;
  for (auto part : op.getParts().getAsRange<rt::PartAttr>()) {
    Value *more = tileCountOf(frame, part);
    count = count ? frame.builder.CreateAdd(count, more) : more;
  }
  frame.builder.CreateRet(count);
  return function;
}

llvm::Function *LaunchEmitter::emitTile(const PlannedSequence &sequence,
                                        const PlannedLaunch &launch) {
  llvm::Function *function = createInternalFunction(
      target, llvm::Type::getVoidTy(target.getContext()),
      {pointer, pointer, word, pointer}, "tile." + launch.name);
  Frame frame(sequence, function);
  llvm::IRBuilder<> &builder = frame.builder;
  Value *tile = function->getArg(2);
  Value *scratch = function->getArg(3);
  tile->setName("tile");
  scratch->setName("scratch");
  rt::LaunchOp op = launch.op;
  // The parts' tiles follow each other: what lies past the first part's
  // tiles belongs to the parts behind it.
  for (Attribute attribute : op.getParts().getValue().drop_back()) {
    auto part = cast<rt::PartAttr>(attribute);
    Value *count = tileCountOf(frame, part);
    auto *mine =
        llvm::BasicBlock::Create(target.getContext(), "part", function);
    auto *next =
        llvm::BasicBlock::Create(target.getContext(), "next", function);
    builder.CreateCondBr(builder.CreateICmpSLT(tile, count), mine, next);
    builder.SetInsertPoint(mine);
    runTile(frame, part, tile, scratch);
    builder.CreateRetVoid();
    builder.SetInsertPoint(next);
    tile = builder.CreateSub(tile, count, "tile");
  }
  auto last = cast<rt::PartAttr>(op.getParts().getValue().back());
  runTile(frame, last, tile, scratch);
  builder.CreateRetVoid();
  return function;
}

Value *LaunchEmitter::tileCountOf(Frame &frame, rt::PartAttr part) {
  llvm::IRBuilder<> &builder = frame.builder;
  if (rt::isGeneratedKernel(part.getKernel())) {
    int64_t tileRows = integerArgument(part, "tileRows");
    Value *rows = builder.CreateAdd(rowCount(frame, part),
                                    builder.getInt64(tileRows - 1));
    return builder.CreateUDiv(rows, builder.getInt64(tileRows));
  }
  llvm::FunctionCallee kernel = target.getOrInsertFunction(
      (part.getKernel() + "_tiles").str(), word, pointer);
  return builder.CreateCall(kernel, {argumentStruct(frame, part)}, "tiles");
}

void LaunchEmitter::runTile(Frame &frame, rt::PartAttr part, Value *tile,
                            Value *scratch) {
  if (rt::isGeneratedKernel(part.getKernel())) {
    runGenerated(frame, part, tile);
    return;
  }
  llvm::FunctionCallee kernel = target.getOrInsertFunction(
      (part.getKernel() + "_tile").str(),
      llvm::Type::getVoidTy(target.getContext()), pointer, word, pointer);
  frame.builder.CreateCall(kernel,
                           {argumentStruct(frame, part), tile, scratch});
}

/// The struct lives in the function's entry block; once the kernel is inlined
/// nothing of it is left.
Value *LaunchEmitter::argumentStruct(Frame &frame, rt::PartAttr part) {
  llvm::IRBuilder<> &builder = frame.builder;
  const rt::KernelInfo *info = rt::findKernel(part.getKernel());
  llvm::BasicBlock &entry =
      builder.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> atEntry(&entry, entry.begin());
  Value *args = atEntry.CreateAlloca(
      llvm::ArrayType::get(word, info->fields.size()), nullptr, "args");
  int64_t offset = 0;
  for (const rt::KernelField &field : info->fields) {
    Value *value =
        argument(frame, field, part.getArgs().get(StringRef(field.name)));
    builder.CreateStore(value, byteOffset(builder, args, offset));
    offset += 8;
  }
  return args;
}

Value *LaunchEmitter::argument(Frame &frame, const rt::KernelField &field,
                               Attribute value) {
  llvm::IRBuilder<> &builder = frame.builder;
  switch (field.kind) {
  case FieldKind::Step:
    return frame.step;
  case FieldKind::Layer:
    return frame.layer;
  case FieldKind::Buffer:
    return bufferPointer(frame, value);
  case FieldKind::Weight:
    return weightPointer(frame, value);
  case FieldKind::Table:
    return constantTable(cast<DenseF32ArrayAttr>(value));
  case FieldKind::Integer:
  case FieldKind::CacheGroup:
    return builder.getInt64(cast<IntegerAttr>(value).getInt());
  case FieldKind::Number:
    return llvm::ConstantFP::get(builder.getDoubleTy(),
                                 cast<FloatAttr>(value).getValueAsDouble());
  case FieldKind::Buffers:
    break; // of generated kernels, which take no struct
  }
  llvm_unreachable("StepPlan checks the fields of hot kernels");
}

Value *LaunchEmitter::bufferPointer(Frame &frame, Attribute symbol) {
  if (isa<UnitAttr>(symbol)) {
    return llvm::Constant::getNullValue(pointer);
  }
  llvm::IRBuilder<> &builder = frame.builder;
  auto buffer =
      symbols.lookup<rt::BufferOp>(cast<FlatSymbolRefAttr>(symbol).getAttr());
  if (buffer.getSymName() == kLogitsBuffer) {
    return loadField(builder, pointer, frame.step, offsetof(QuireStep, logits),
                     "logits");
  }
  Value *arena = loadField(builder, pointer, frame.step,
                           offsetof(QuireStep, arena), "arena");
  return byteOffset(builder, arena, static_cast<int64_t>(*buffer.getOffset()));
}

Value *LaunchEmitter::weightPointer(Frame &frame, Attribute symbol) {
  if (isa<UnitAttr>(symbol)) {
    return llvm::Constant::getNullValue(pointer);
  }
  llvm::IRBuilder<> &builder = frame.builder;
  int64_t index =
      frame.sequence.slotIndex(cast<FlatSymbolRefAttr>(symbol).getAttr());
  Value *offsets = loadField(builder, pointer, frame.layer,
                             offsetof(QuireLayer, weightOffsets), "offsets");
  Value *offset = loadField(builder, word, offsets, index * 8, "offset");
  Value *weights = loadField(builder, pointer, frame.step,
                             offsetof(QuireStep, weights), "weights");
  return builder.CreateInBoundsPtrAdd(weights, offset);
}

Value *LaunchEmitter::constantTable(DenseF32ArrayAttr values) {
  return createConstant(
      target,
      llvm::ConstantDataArray::get(target.getContext(), values.asArrayRef()),
      "table");
}

Value *LaunchEmitter::rowCount(Frame &frame, rt::PartAttr part) {
  llvm::IRBuilder<> &builder = frame.builder;
  Value *batch = loadField(builder, pointer, frame.step,
                           offsetof(QuireStep, batch), "batch");
  int64_t rowSet = integerArgument(part, "rowSet");
  int64_t field = offsetof(QuireBatch, rows);
  if (rowSet == cpu::kLogitRows) {
    field = offsetof(QuireBatch, logitRows);
  } else if (rowSet == cpu::kLatentRows || rowSet == cpu::kMaterialisedRows) {
    field = offsetof(QuireBatch, formRows) +
            (rowSet - cpu::kLatentRows) * int64_t{sizeof(int32_t)};
  }
  Value *rows = loadField(builder, builder.getInt32Ty(), batch, field, "rows");
  rows = builder.CreateZExt(rows, word);
  return rowSet > cpu::kPairRows
             ? builder.CreateMul(rows,
                                 builder.getInt64(rowSet - cpu::kPairRows))
             : rows;
}

/// A generated function takes each of its tensors as MLIR's memref
/// descriptor: allocated and aligned pointer, offset, sizes, strides.
void LaunchEmitter::runGenerated(Frame &frame, rt::PartAttr part, Value *tile) {
  llvm::IRBuilder<> &builder = frame.builder;
  auto function = symbols.lookup<func::FuncOp>(part.getKernel());
  Value *tileRows = builder.getInt64(integerArgument(part, "tileRows"));
  Value *begin = builder.CreateMul(tile, tileRows, "begin");
  Value *left = builder.CreateSub(rowCount(frame, part), begin);
  Value *rows = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, tileRows,
                                              left, nullptr, "rows");

  SmallVector<Value *> arguments;
  SmallVector<llvm::Type *> types;
  auto addTensors = [&](StringRef field, TypeRange tensors) {
    auto buffers = cast<ArrayAttr>(part.getArgs().get(field));
    for (auto [buffer, type] : llvm::zip_equal(buffers, tensors)) {
      int64_t features = cast<RankedTensorType>(type).getDimSize(1);
      Value *rowBytes =
          builder.getInt64(features * static_cast<int64_t>(sizeof(float)));
      Value *base = builder.CreateInBoundsPtrAdd(
          bufferPointer(frame, buffer), builder.CreateMul(begin, rowBytes));
      llvm::append_range(arguments,
                         ArrayRef<Value *>{base, base, builder.getInt64(0),
                                           rows, builder.getInt64(features),
                                           builder.getInt64(features),
                                           builder.getInt64(1)});
      llvm::append_range(types, ArrayRef<llvm::Type *>{pointer, pointer, word,
                                                       word, word, word, word});
    }
  };
  addTensors("inputs", function.getArgumentTypes());
  addTensors("outputs", function.getResultTypes());
  llvm::FunctionCallee callee = target.getOrInsertFunction(
      part.getKernel(),
      llvm::FunctionType::get(builder.getVoidTy(), types, false));
  builder.CreateCall(callee, arguments);
}

} // namespace quire
