#include "codegen/cpu/Elementwise.h"

#include "codegen/cpu/IrBuilding.h"
#include "codegen/cpu/LowerElementwise.h"
#include "ir/rt/KernelTable.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/AllInterfaces.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

namespace quire {

using namespace mlir;

/// Values of one memref descriptor of rank 2 in an argument list, and where
/// the pointer that is used stands among them.
static constexpr unsigned kDescriptorValues = 7;
static constexpr unsigned kAlignedPointer = 1;

static void loadDialects(MLIRContext &context) {
  DialectRegistry registry;
  registry
      .insert<arith::ArithDialect, bufferization::BufferizationDialect,
              func::FuncDialect, linalg::LinalgDialect, LLVM::LLVMDialect,
              memref::MemRefDialect, scf::SCFDialect, tensor::TensorDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerAllDialectInterfaceImplementations(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<arith::ArithDialect, bufferization::BufferizationDialect,
                      func::FuncDialect, linalg::LinalgDialect,
                      LLVM::LLVMDialect, memref::MemRefDialect, scf::SCFDialect,
                      tensor::TensorDialect>();
}

static OwningOpRef<ModuleOp> cloneGenerated(ModuleOp module) {
  OwningOpRef<ModuleOp> result = ModuleOp::create(module.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(result->getBody());
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    if (rt::isGeneratedKernel(function.getSymName())) {
      builder.clone(*function);
    }
  }
  return result;
}

/// One loop where there was a chain. A producer with more readers is computed
/// anew at each: cheaper than a pass over memory.
static LogicalResult fuse(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  auto always = [](OpOperand *) { return true; };
  linalg::populateElementwiseOpsFusionPatterns(patterns, always);
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, always);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

/// Lets the loop that computes `result` write into `destination`, a tensor of
/// the same type, instead of a buffer of its own.
static void writeInto(OpBuilder &builder, Value result, Value destination) {
  if (auto collapse = result.getDefiningOp<tensor::CollapseShapeOp>()) {
    auto type = cast<RankedTensorType>(collapse.getSrc().getType());
    SmallVector<OpFoldResult> sizes;
    for (auto [index, size] : llvm::enumerate(type.getShape())) {
      sizes.push_back(ShapedType::isDynamic(size)
                          ? OpFoldResult(tensor::DimOp::create(
                                builder, result.getLoc(), destination, index))
                          : OpFoldResult(builder.getIndexAttr(size)));
    }
    Value expanded = tensor::ExpandShapeOp::create(
        builder, result.getLoc(), type, destination,
        collapse.getReassociationIndices(), sizes);
    writeInto(builder, collapse.getSrc(), expanded);
    return;
  }
  auto loop = result.getDefiningOp<linalg::GenericOp>();
  if (!loop) {
    return;
  }
  unsigned number = cast<OpResult>(result).getResultNumber();
  OpOperand &initial = *loop.getDpsInitOperand(number);
  if (initial.get().getDefiningOp<tensor::EmptyOp>()) {
    initial.set(destination);
  }
}

/// (tensors) -> (tensors) becomes (memrefs, result memrefs) -> ().
static void passResultsAsBuffers(func::FuncOp function) {
  Block &block = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  Location location = function.getLoc();
  auto bufferOf = [](Type type) -> MemRefType {
    auto tensor = cast<RankedTensorType>(type);
    return MemRefType::get(tensor.getShape(), tensor.getElementType());
  };
  SmallVector<Type> types;
  for (BlockArgument argument : block.getArguments()) {
    Type tensorType = argument.getType();
    MemRefType type = bufferOf(tensorType);
    argument.setType(type);
    auto tensor = bufferization::ToTensorOp::create(
        builder, location, tensorType, argument, /*restrict=*/true);
    argument.replaceAllUsesExcept(tensor, tensor);
    types.push_back(type);
  }
  auto end = cast<func::ReturnOp>(block.getTerminator());
  OpBuilder atEnd(end);
  for (Value result : end.getOperands()) {
    MemRefType type = bufferOf(result.getType());
    Value out = block.addArgument(type, location);
    types.push_back(type);
    Value destination = bufferization::ToTensorOp::create(
        builder, location, result.getType(), out, /*restrict=*/true,
        /*writable=*/true);
    writeInto(builder, result, destination);
    bufferization::MaterializeInDestinationOp::create(
        atEnd, location, /*result=*/Type(), result, out, /*restrict=*/false,
        /*writable=*/true);
  }
  end.getOperandsMutable().clear();
  function.setType(FunctionType::get(function.getContext(), types, {}));
}

static LogicalResult lowerToLoops(ModuleOp module) {
  PassManager passes(module.getContext());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.allowUnknownOps = true;
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(bufferization::createOneShotBufferizePass(bufferize));
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createConvertLinalgToLoopsPass());
  // What is left of intermediate buffers holds a few rows: on the stack.
  bufferization::PromoteBuffersToStackPassOptions promote;
  promote.maxRankOfAllocatedMemRef = 4;
  promote.maxAllocSizeInBytes = 1 << 20;
  passes.addNestedPass<func::FuncOp>(
      bufferization::createPromoteBuffersToStackPass(promote));
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  return passes.run(module);
}

static LogicalResult lowerToLlvmDialect(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(createLowerAffinePass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createFinalizeMemRefToLLVMConversionPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createConvertIndexToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  return passes.run(module);
}

FailureOr<OwningOpRef<ModuleOp>> lowerElementwiseToLoops(ModuleOp module) {
  loadDialects(*module.getContext());
  OwningOpRef<ModuleOp> functions = cloneGenerated(module);
  for (func::FuncOp function :
       llvm::to_vector(functions->getOps<func::FuncOp>())) {
    if (failed(lowerElementwiseToLinalg(function))) {
      return failure();
    }
  }
  if (failed(fuse(*functions))) {
    return module.emitError("generated functions do not fuse");
  }
  for (func::FuncOp function : functions->getOps<func::FuncOp>()) {
    if (!function.isDeclaration()) {
      passResultsAsBuffers(function);
    }
  }
  if (failed(lowerToLoops(*functions))) {
    return failure();
  }
  return functions;
}

/// Says in the IR what StepPlan has checked: outputs overlap nothing.
static void markOutputsApart(ModuleOp source, llvm::Module &target) {
  for (func::FuncOp function : source.getOps<func::FuncOp>()) {
    llvm::Function *code = target.getFunction(function.getSymName());
    if (code == nullptr || code->isDeclaration()) {
      continue;
    }
    unsigned first = function.getNumArguments();
    for (unsigned i = first; i < first + function.getNumResults(); ++i) {
      code->getArg(i * kDescriptorValues + kAlignedPointer)
          ->addAttr(llvm::Attribute::NoAlias);
    }
    code->setDoesNotThrow();
  }
}

FailureOr<std::unique_ptr<llvm::Module>>
compileElementwise(ModuleOp module, llvm::LLVMContext &context) {
  if (llvm::none_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
        return rt::isGeneratedKernel(function.getSymName());
      })) {
    return std::unique_ptr<llvm::Module>();
  }
  FailureOr<OwningOpRef<ModuleOp>> loops = lowerElementwiseToLoops(module);
  if (failed(loops) || failed(lowerToLlvmDialect(**loops))) {
    return failure();
  }
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(**loops, context, "generated");
  if (!code) {
    return module.emitError("generated functions do not translate to LLVM IR");
  }
  code->setDataLayout(kDataLayout);
  markOutputsApart(module, *code);
  return code;
}

} // namespace quire
