#include "codegen/cpu/CompileCode.h"

#include "absl/strings/str_cat.h"
#include "codegen/cpu/Optimise.h"
#include "runtime/engine/StepAbi.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <chrono>
#include <filesystem>
#include <mutex>

namespace quire {

namespace {

constexpr const char kTriple[] = "x86_64-pc-linux-gnu";

using ModulePtr = std::unique_ptr<llvm::Module>;

absl::Status failed(const char *what, llvm::Error error) {
  return absl::InternalError(
      absl::StrCat(what, ": ", llvm::toString(std::move(error))));
}

llvm::MemoryBufferRef asBuffer(std::span<const std::byte> bytes,
                               llvm::StringRef name) {
  return {llvm::StringRef(reinterpret_cast<const char *>(bytes.data()),
                          bytes.size()),
          name};
}

/// As LLVM calls the level's machine. What instructions a function may use
/// follows from its own attributes; this sets the cost model.
const char *cpuOf(std::string_view level) {
  if (level == "avx512") {
    return "x86-64-v4";
  }
  return level == "avx2" ? "x86-64-v3" : "x86-64";
}

std::unique_ptr<llvm::TargetMachine> targetMachine(std::string_view level) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  std::string error;
  llvm::Triple triple(kTriple);
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) {
    return nullptr;
  }
  llvm::TargetOptions options;
  // Only what the IR says is one operation may become one.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpuOf(level), "", options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Default));
}

/// Inlining asks that caller and callee are compiled for the same machine and
/// with the same builtins; an emitted function takes over what clang wrote at
/// the kernels.
void takeTargetFrom(const llvm::Module &kernels, llvm::Module &step) {
  step.setTargetTriple(kernels.getTargetTriple());
  step.setDataLayout(kernels.getDataLayout());
  auto model = llvm::find_if(kernels, [](const llvm::Function &function) {
    return !function.isDeclaration();
  });
  for (llvm::Function &function : step) {
    if (function.isDeclaration()) {
      continue;
    }
    for (llvm::Attribute attribute : model->getAttributes().getFnAttrs()) {
      if (attribute.isStringAttribute()) {
        function.addFnAttr(attribute);
      }
    }
    function.setDoesNotThrow();
  }
}

/// The step module with the kernels that it calls.
absl::StatusOr<ModulePtr> linkKernels(const CodeRequest &request,
                                      llvm::LLVMContext &context) {
  llvm::Expected<ModulePtr> step =
      llvm::parseBitcodeFile(asBuffer(request.step, "step"), context);
  if (!step) {
    return failed("the step's bitcode is not readable", step.takeError());
  }
  // Lazily: only the kernels that are called are read.
  llvm::Expected<ModulePtr> kernels =
      llvm::getLazyBitcodeModule(asBuffer(request.kernels, "kernels"), context);
  if (!kernels) {
    return failed("the kernels' bitcode is not readable", kernels.takeError());
  }
  if ((*kernels)->empty()) {
    return absl::InternalError("the kernels' bitcode is empty");
  }
  takeTargetFrom(**kernels, **step);
  if (llvm::Linker::linkModules(**step, std::move(*kernels),
                                llvm::Linker::LinkOnlyNeeded)) {
    return absl::InternalError("the kernels' bitcode does not link");
  }
  for (const llvm::Function &function : **step) {
    if (function.isDeclaration() && (function.getName().ends_with("_tile") ||
                                     function.getName().ends_with("_tiles"))) {
      return absl::InternalError(absl::StrCat(
          "there is no kernel function ", std::string(function.getName()),
          " for ", std::string(request.level)));
    }
  }
  return std::move(*step);
}

absl::Status emitObject(llvm::Module &module, llvm::TargetMachine &machine,
                        const std::string &path) {
  std::error_code error;
  llvm::raw_fd_ostream out(path, error, llvm::sys::fs::OF_None);
  if (error) {
    return absl::InternalError(
        absl::StrCat("cannot write ", path, ": ", error.message()));
  }
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, out, nullptr,
                                  llvm::CodeGenFileType::ObjectFile)) {
    return absl::InternalError("LLVM cannot write objects for this target");
  }
  passes.run(module);
  out.close();
  if (out.has_error()) {
    std::string reason = out.error().message();
    out.clear_error();
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot write ", path, ": ", reason));
  }
  return absl::OkStatus();
}

/// Runs `work` and notes how long it took.
template <class Work>
absl::Status timed(std::vector<CodeStage> &stages, std::string name,
                   Work &&work) {
  auto start = std::chrono::steady_clock::now();
  absl::Status status = work();
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  stages.push_back({std::move(name), seconds.count()});
  return status;
}

} // namespace

absl::StatusOr<std::vector<CodeStage>> compileCode(const CodeRequest &request) {
  std::vector<CodeStage> stages;
  llvm::LLVMContext context;
  ModulePtr module;
  std::unique_ptr<llvm::TargetMachine> machine = targetMachine(request.level);
  if (!machine) {
    return absl::InternalError("this LLVM has no x86-64 code generator");
  }
  absl::Status status = timed(stages, "link kernels", [&]() -> absl::Status {
    absl::StatusOr<ModulePtr> linked = linkKernels(request, context);
    if (linked.ok()) {
      module = std::move(*linked);
    }
    return linked.status();
  });
  if (status.ok()) {
    status = timed(stages, "optimise", [&] {
      optimise(*module, *machine, {kStepSymbol, kAbiVersionSymbol});
      return absl::OkStatus();
    });
  }
  std::string relocatable = request.objectPath + ".o";
  if (status.ok()) {
    status = timed(stages, "emit object",
                   [&] { return emitObject(*module, *machine, relocatable); });
  }
  if (status.ok()) {
    status = timed(stages, "lld", [&] {
      return linkSharedObject(relocatable, request.objectPath);
    });
  }
  std::error_code ignored;
  std::filesystem::remove(relocatable, ignored);
  if (!status.ok()) {
    return status;
  }
  return stages;
}

} // namespace quire
