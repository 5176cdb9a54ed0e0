// How long LLVM takes to turn the kernels' bitcode into the code of one
// engine: every distinct product of Qwen2.5-1.5B Q4_K_M and the row kernels,
// each called from a function that fixes its shape, through the O2 pipeline
// and code generation. Prints processor seconds by stage; see
// docs/decisions/001-bitcode-microkernels.md.

#include "codegen/cpu/kernels/KernelBitcode.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

using namespace llvm;

/// A call of one kernel: constants by the number of their 8-byte field.
struct Launch {
  std::string kernel;
  unsigned fields;
  std::vector<std::pair<unsigned, int64_t>> constants;
};

static std::vector<Launch> qwenLaunches() {
  const auto linear = [](const char *kernel, int64_t inputs, int64_t outputs) {
    return Launch{kernel, 9, {{5, inputs}, {6, outputs}, {7, outputs}, {8, 0}}};
  };
  return {
      linear("linear_q4_k", 1536, 1536),
      linear("linear_q4_k", 1536, 256),
      linear("linear_q4_k", 8960, 1536),
      linear("linear_q6_k", 1536, 256),
      linear("linear_q6_k", 8960, 1536),
      linear("linear_q6_k", 1536, 151936),
      {"gated_linear_q4_k",
       10,
       {{5, 1536}, {6, 8960}, {7, 8960}, {8, 0}, {9, 0}}},
      {"embed_q6_k", 6, {{3, 1536}, {4, 151936}}},
      {"rms_norm", 12, {{7, 1536}, {8, 1536}, {10, 256}, {11, 0}}},
      {"quantize", 6, {{3, 1536}, {4, 256}, {5, 0}}},
      {"quantize", 6, {{3, 8960}, {4, 256}, {5, 0}}},
      {"rope_table", 8, {{3, 64}, {5, 0}}},
      {"kv_append_bf16",
       12,
       {{6, 0}, {7, 2}, {8, 128}, {9, 128}, {10, 16}, {11, 28}}},
      {"attention_bf16",
       14,
       {{5, 0},
        {6, 12},
        {7, 2},
        {8, 128},
        {9, 128},
        {10, 16},
        {11, 28},
        {12, 0}}},
      {"gather_logit_rows", 4, {{3, 1536}}},
  };
}

/// void launch_i(ptr args-so-far, i64 tile, ptr scratch): copies the pointers
/// it is given and fixes the rest.
static void addCaller(Module &module, const Launch &launch, unsigned number) {
  LLVMContext &context = module.getContext();
  Function *kernel = module.getFunction(launch.kernel + "_tile");
  if (!kernel) {
    std::fprintf(stderr, "no kernel %s\n", launch.kernel.c_str());
    std::exit(1);
  }
  auto *type = kernel->getFunctionType();
  Function *caller =
      Function::Create(type, Function::ExternalLinkage,
                       "launch_" + std::to_string(number), module);
  caller->setAttributes(kernel->getAttributes());
  IRBuilder<> builder(BasicBlock::Create(context, "entry", caller));
  Type *word = builder.getInt64Ty();
  Value *args =
      builder.CreateAlloca(ArrayType::get(word, launch.fields), nullptr);
  for (unsigned i = 0; i < launch.fields; ++i) {
    Value *value = nullptr;
    for (auto [field, constant] : launch.constants) {
      if (field == i) {
        value = builder.getInt64(static_cast<uint64_t>(constant));
      }
    }
    if (!value) {
      value = builder.CreateLoad(
          word, builder.CreateConstGEP1_64(word, caller->getArg(0), i));
    }
    builder.CreateStore(value, builder.CreateConstGEP1_64(word, args, i));
  }
  builder.CreateCall(kernel, {args, caller->getArg(1), caller->getArg(2)});
  builder.CreateRetVoid();
}

/// Processor time: the figures should not depend on who else is busy.
static double seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// Kernel bodies that are not inlined were optimised when they were compiled.
static bool isFinished(const Any &unit) {
  const Function *function = nullptr;
  if (const auto *f = any_cast<const Function *>(&unit)) {
    function = *f;
  } else if (const auto *loop = any_cast<const Loop *>(&unit)) {
    function = (*loop)->getHeader()->getParent();
  }
  return function && function->hasFnAttribute(Attribute::NoInline);
}

int main(int argc, char **) {
  // Any argument: the whole pipeline for every function.
  const bool everything = argc > 1;
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  for (const char *level : {"portable", "avx2", "avx512"}) {
    LLVMContext context;
    const double start = seconds();
    const auto bytes = quire::cpu::kernelBitcode(level);
    auto module = cantFail(parseBitcodeFile(
        MemoryBufferRef(StringRef(reinterpret_cast<const char *>(bytes.data()),
                                  bytes.size()),
                        "kernels"),
        context));
    unsigned number = 0;
    for (const Launch &launch : qwenLaunches()) {
      addCaller(*module, launch, number++);
    }
    const double linked = seconds();

    std::string error;
    const Target *target =
        TargetRegistry::lookupTarget(module->getTargetTriple(), error);
    // Features come with every function's own attributes.
    std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
        module->getTargetTriple(), "x86-64", "", TargetOptions(), Reloc::PIC_));
    LoopAnalysisManager loops;
    FunctionAnalysisManager functions;
    CGSCCAnalysisManager components;
    ModuleAnalysisManager modules;
    PassInstrumentationCallbacks callbacks;
    if (!everything) {
      callbacks.registerShouldRunOptionalPassCallback(
          [](StringRef, Any unit) { return !isFinished(unit); });
    }
    PipelineTuningOptions tuning;
    tuning.SLPVectorization = false;
    PassBuilder builder(machine.get(), tuning, std::nullopt, &callbacks);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
    ModulePassManager passes;
    passes.addPass(InternalizePass([](const GlobalValue &value) {
      return value.getName().starts_with("launch_");
    }));
    passes.addPass(GlobalDCEPass());
    passes.addPass(
        builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2));
    passes.run(*module, modules);
    const double optimized = seconds();

    SmallVector<char, 0> object;
    raw_svector_ostream stream(object);
    legacy::PassManager codegen;
    machine->addPassesToEmitFile(codegen, stream, nullptr,
                                 CodeGenFileType::ObjectFile);
    codegen.run(*module);
    const double done = seconds();
    std::printf("%-9s link %.2f s, O2 %.2f s, codegen %.2f s, total %.2f s, "
                "object %zu bytes\n",
                level, linked - start, optimized - linked, done - optimized,
                done - start, object.size());
  }
  return 0;
}
