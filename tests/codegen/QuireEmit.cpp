// For lit tests: prints what code generation makes of an rt module.
//   quire-emit FILE --step    the step function's LLVM IR, before kernels
//   quire-emit FILE --loops   generated functions as loops over buffers

#include "codegen/cpu/Elementwise.h"
#include "codegen/cpu/EmitStep.h"
#include "ir/lm/Lm.h"
#include "ir/rt/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/IR/Verifier.h"

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

int main(int argc, char **argv) {
  if (argc != 3) {
    llvm::errs() << "usage: quire-emit FILE --step|--loops\n";
    return 2;
  }
  mlir::MLIRContext context;
  context.loadDialect<lm::LmDialect, rt::RtDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module) {
    return 1;
  }
  return llvm::StringRef(argv[2]) == "--step" ? printStep(*module)
                                              : printLoops(*module);
}
