#include "codegen/cpu/Optimise.h"

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"

namespace quire {

/// Kernel bodies that are not to be inlined were optimised when they were
/// compiled to bitcode (docs/decisions/001-bitcode-microkernels.md).
static bool isFinished(const llvm::Any &unit) {
  const llvm::Function *function = nullptr;
  if (const auto *f = llvm::any_cast<const llvm::Function *>(&unit)) {
    function = *f;
  } else if (const auto *l = llvm::any_cast<const llvm::Loop *>(&unit)) {
    function = (*l)->getHeader()->getParent();
  }
  return function && function->hasFnAttribute(llvm::Attribute::NoInline);
}

void optimise(llvm::Module &module, llvm::TargetMachine &machine,
              llvm::ArrayRef<llvm::StringRef> entryPoints) {
  llvm::internalizeModule(module, [&](const llvm::GlobalValue &value) {
    return llvm::is_contained(entryPoints, value.getName());
  });
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  // Kernels are written in vectors already: packing what is left of their
  // scalars costs compile time and gains nothing.
  tuning.SLPVectorization = false;
  tuning.LoopUnrolling = true;
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [](llvm::StringRef, llvm::Any unit) { return !isFinished(unit); });
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
}

} // namespace quire
