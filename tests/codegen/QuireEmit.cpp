// For lit tests: prints what code generation makes of an rt module.
//   quire-emit FILE --step    the step function's LLVM IR, before kernels
//   quire-emit FILE --loops   generated functions as loops over buffers
//   quire-emit FILE --engine DIR CHECKPOINT [ISA]...
//                             writes an engine and says where the time went

#include "codegen/Codegen.h"
#include "codegen/cpu/Elementwise.h"
#include "codegen/cpu/EmitStep.h"
#include "ir/lm/Lm.h"
#include "ir/rt/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/Format.h"

using namespace quire;

static int printStep(mlir::ModuleOp module) {
  mlir::FailureOr<StepPlan> plan = StepPlan::build(module);
  if (failed(plan)) {
    return 1;
  }
  llvm::LLVMContext context;
  llvm::Module code("step", context);
  if (failed(emitStep(module, *plan, WeightPlacement(module), code)) ||
      llvm::verifyModule(code, &llvm::errs())) {
    return 1;
  }
  code.print(llvm::outs(), nullptr);
  return 0;
}

static int printLoops(mlir::ModuleOp module) {
  auto loops = lowerElementwiseToLoops(module);
  if (failed(loops)) {
    return 1;
  }
  (*loops)->print(llvm::outs());
  return 0;
}

static int writeEngineOf(mlir::ModuleOp module,
                         llvm::ArrayRef<const char *> arguments) {
  auto checkpoint = openCheckpoint(arguments[1]);
  if (!checkpoint.ok()) {
    llvm::errs() << std::string(checkpoint.status().message()) << "\n";
    return 1;
  }
  EngineWriteOptions options;
  options.directory = arguments[0];
  options.force = true;
  options.isas.assign(arguments.begin() + 2, arguments.end());
  manifest::Model &model = *options.source.description.mutable_model();
  model.set_vocabulary(1);
  model.set_max_context(4096);
  model.set_max_batch_tokens(512);
  EngineReport report;
  if (failed(writeEngine(module, **checkpoint, options, report))) {
    return 1;
  }
  for (const EngineReport::Stage &stage : report.stages) {
    llvm::outs() << llvm::format("%-24s %7.3f s\n", stage.name.c_str(),
                                 stage.seconds);
  }
  llvm::outs() << report.weightBytes << " bytes of weights, "
               << report.codeBytes << " of code\n";
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    llvm::errs() << "usage: quire-emit FILE --step|--loops|--engine ...\n";
    return 2;
  }
  mlir::MLIRContext context;
  context.loadDialect<lm::LmDialect, rt::RtDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module) {
    return 1;
  }
  llvm::StringRef mode = argv[2];
  if (mode == "--engine" && argc >= 5) {
    return writeEngineOf(*module, llvm::ArrayRef(argv + 3, argv + argc));
  }
  return mode == "--step" ? printStep(*module) : printLoops(*module);
}
