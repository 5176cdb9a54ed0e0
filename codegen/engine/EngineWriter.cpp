// writeEngine: the stages of codegen/Codegen.h one after the other. Code
// compiles on a thread of its own while the weights are packed.

#include "codegen/Codegen.h"
#include "codegen/cpu/CompileCode.h"
#include "codegen/cpu/Elementwise.h"
#include "codegen/cpu/EmitStep.h"
#include "codegen/cpu/kernels/KernelBitcode.h"
#include "codegen/engine/FillManifest.h"
#include "codegen/engine/StagedDirectory.h"
#include "codegen/weights/WriteWeights.h"
#include "frontends/formats/MappedFile.h"
#include "frontends/formats/StrCat.h"
#include "runtime/engine/ManifestFile.h"

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <fstream>
#include <thread>

namespace quire {

using namespace mlir;

namespace {

class EngineWriting {
public:
  EngineWriting(ModuleOp module, const Checkpoint &checkpoint,
                const EngineWriteOptions &options, EngineReport &report)
      : module(module), checkpoint(checkpoint), options(options),
        report(report), placement(module),
        manifest(options.source.description) {}

  LogicalResult write();

private:
  LogicalResult prepare();
  absl::Status writeFiles(StagedDirectory &directory);
  absl::Status compileLevels(const StagedDirectory &directory);
  absl::Status packWeights(const StagedDirectory &directory);
  absl::Status writeTokenizer(const StagedDirectory &directory);
  absl::Status writeIr(const StagedDirectory &directory);
  absl::Status writeManifest(const StagedDirectory &directory);
  void stage(std::string name, std::chrono::steady_clock::time_point since);

  ModuleOp module;
  const Checkpoint &checkpoint;
  const EngineWriteOptions &options;
  EngineReport &report;
  WeightPlacement placement;
  manifest::Manifest manifest;
  llvm::SmallVector<char, 0> stepBitcode;
  std::vector<WeightJob> weightJobs;
  // The code thread's own until it has ended.
  std::vector<manifest::Code> codes;
  std::vector<EngineReport::Stage> codeStages;
};

constexpr const char kWeightFile[] = "weights.bin";
constexpr const char kTokenizerFile[] = "tokenizer";

auto now() { return std::chrono::steady_clock::now(); }

absl::Status writeTextFile(const std::string &path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) {
    return absl::ResourceExhaustedError(
        strCat("cannot write ", path, ": ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

/// Size and checksum of a file that has just been written.
absl::Status describeFile(const StagedDirectory &directory,
                          const std::string &name, manifest::File &file) {
  absl::StatusOr<MappedFile> mapped = MappedFile::open(directory.pathOf(name));
  if (!mapped.ok()) {
    return mapped.status();
  }
  file.set_path(name);
  file.set_bytes(static_cast<int64_t>(mapped->size()));
  file.set_xxh3(contentHash(mapped->bytes()));
  return absl::OkStatus();
}

LogicalResult checkLevels(ModuleOp module, const EngineWriteOptions &options) {
  for (const std::string &name : options.isas) {
    if (!llvm::is_contained(kIsaLevels, std::string_view(name))) {
      return module.emitError("there is no ISA level '")
             << name << "'; there are avx512, avx2 and portable";
    }
  }
  return success();
}

} // namespace

/// The step and the generated functions in one LLVM module.
static FailureOr<std::unique_ptr<llvm::Module>>
emitCode(ModuleOp module, const StepPlan &plan,
         const WeightPlacement &placement, llvm::LLVMContext &context) {
  auto step = std::make_unique<llvm::Module>("step", context);
  FailureOr<std::unique_ptr<llvm::Module>> generated =
      compileElementwise(module, context);
  if (failed(generated) || failed(emitStep(module, plan, placement, *step))) {
    return failure();
  }
  if (*generated && llvm::Linker::linkModules(*step, std::move(*generated))) {
    return module.emitError("generated functions do not link with the step");
  }
  return step;
}

LogicalResult printStepIr(ModuleOp module, std::string &text) {
  FailureOr<StepPlan> plan = StepPlan::build(module);
  llvm::LLVMContext context;
  if (failed(plan)) {
    return failure();
  }
  auto code = emitCode(module, *plan, WeightPlacement(module), context);
  if (failed(code)) {
    return failure();
  }
  llvm::raw_string_ostream out(text);
  (*code)->print(out, nullptr);
  return success();
}

void EngineWriting::stage(std::string name,
                          std::chrono::steady_clock::time_point since) {
  std::chrono::duration<double> seconds = now() - since;
  report.stages.push_back({std::move(name), seconds.count()});
}

/// Everything that reads the IR, on the caller's thread.
LogicalResult EngineWriting::prepare() {
  auto start = now();
  FailureOr<StepPlan> plan = StepPlan::build(module);
  if (failed(plan)) {
    return failure();
  }
  llvm::LLVMContext context;
  auto code = emitCode(module, *plan, placement, context);
  FailureOr<std::vector<WeightJob>> jobs =
      planWeights(module, placement, checkpoint);
  if (failed(code) || failed(jobs)) {
    return failure();
  }
  weightJobs = std::move(*jobs);
  llvm::raw_svector_ostream out(stepBitcode);
  llvm::WriteBitcodeToFile(**code, out);
  fillManifest(module, *plan, placement, manifest);
  stage("emit", start);
  return success();
}

absl::Status EngineWriting::compileLevels(const StagedDirectory &directory) {
  std::vector<std::string> levels = options.isas;
  if (levels.empty()) {
    levels.assign(kIsaLevels.begin(), kIsaLevels.end());
  }
  for (const std::string &isa : levels) {
    std::string name = strCat("code-", isa, ".so");
    CodeRequest request{
        isa, std::as_bytes(std::span(stepBitcode.data(), stepBitcode.size())),
        cpu::kernelBitcode(isa), directory.pathOf(name)};
    absl::StatusOr<std::vector<CodeStage>> stages = compileCode(request);
    if (!stages.ok()) {
      return stages.status();
    }
    for (const CodeStage &done : *stages) {
      codeStages.push_back({strCat(isa, " ", done.name), done.seconds});
    }
    manifest::Code &code = codes.emplace_back();
    code.set_isa(isa);
    absl::Status status = describeFile(directory, name, *code.mutable_object());
    if (!status.ok()) {
      return status;
    }
    if (options.cancelled && options.cancelled()) {
      return absl::CancelledError("the compilation was interrupted");
    }
  }
  return absl::OkStatus();
}

absl::Status EngineWriting::packWeights(const StagedDirectory &directory) {
  WeightWriting writing;
  writing.threads = options.threads;
  writing.cancelled = options.cancelled;
  if (options.progress) {
    writing.progress = [&](int64_t done, int64_t all) {
      options.progress("weights", done, all);
    };
  }
  absl::StatusOr<WrittenWeights> written =
      writeWeights(directory.pathOf(kWeightFile), std::move(weightJobs),
                   placement.fileBytes(), writing);
  if (!written.ok()) {
    return written.status();
  }
  manifest::File &file = *manifest.mutable_weights()->mutable_file();
  file.set_path(kWeightFile);
  file.set_bytes(written->bytes);
  file.set_xxh3(written->xxh3);
  report.weightBytes = written->bytes;
  return absl::OkStatus();
}

absl::Status EngineWriting::writeTokenizer(const StagedDirectory &directory) {
  if (!options.source.writeTokenizer) {
    return absl::OkStatus();
  }
  absl::Status status =
      options.source.writeTokenizer(directory.pathOf(kTokenizerFile));
  if (!status.ok()) {
    return status;
  }
  return describeFile(directory, kTokenizerFile, *manifest.mutable_tokenizer());
}

absl::Status EngineWriting::writeIr(const StagedDirectory &directory) {
  if (options.source.ir.empty()) {
    return absl::OkStatus();
  }
  std::error_code error;
  std::filesystem::create_directory(directory.path() / "ir", error);
  for (const auto &[phase, text] : options.source.ir) {
    absl::Status status =
        writeTextFile(directory.pathOf(strCat("ir/", phase, ".mlir")), text);
    if (!status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status EngineWriting::writeManifest(const StagedDirectory &directory) {
  absl::Status status = checkManifest(manifest);
  if (!status.ok()) {
    return status;
  }
  return writeTextFile(directory.pathOf(kManifestFileName),
                       encodeManifest(manifest));
}

absl::Status EngineWriting::writeFiles(StagedDirectory &directory) {
  // Beside the packing threads one more compiles code: packing waits for
  // memory much of the time.
  absl::Status codeStatus;
  double codeSeconds = 0;
  std::thread compiler([&] {
    auto start = now();
    codeStatus = compileLevels(directory);
    codeSeconds = std::chrono::duration<double>(now() - start).count();
  });
  auto start = now();
  absl::Status status = packWeights(directory);
  stage("weights", start);
  compiler.join();
  for (manifest::Code &code : codes) {
    report.codeBytes += code.object().bytes();
    *manifest.add_code() = std::move(code);
  }
  report.stages.push_back({"code", codeSeconds});
  for (EngineReport::Stage &done : codeStages) {
    report.stages.push_back(std::move(done));
  }
  for (absl::Status next :
       {codeStatus, writeTokenizer(directory), writeIr(directory)}) {
    status.Update(next);
  }
  if (status.ok()) {
    status = writeManifest(directory);
  }
  return status;
}

LogicalResult EngineWriting::write() {
  auto fail = [&](const absl::Status &status) {
    return module.emitError(std::string(status.message()));
  };
  if (failed(checkLevels(module, options))) {
    return failure();
  }
  // Before any work, so that a refusal costs nothing.
  absl::StatusOr<StagedDirectory> directory =
      StagedDirectory::create(options.directory, options.force);
  if (!directory.ok()) {
    return fail(directory.status());
  }
  if (failed(prepare())) {
    return failure();
  }
  absl::Status status = writeFiles(*directory);
  if (status.ok()) {
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(directory->path())) {
      if (entry.is_regular_file()) {
        report.engineBytes += static_cast<int64_t>(entry.file_size());
      }
    }
    status = directory->commit();
  }
  return status.ok() ? success() : LogicalResult(fail(status));
}

absl::Status checkEngineDirectory(const std::string &directory, bool force) {
  return StagedDirectory::check(directory, force);
}

LogicalResult writeEngine(ModuleOp rtModule, const Checkpoint &checkpoint,
                          const EngineWriteOptions &options,
                          EngineReport &report) {
  return EngineWriting(rtModule, checkpoint, options, report).write();
}

} // namespace quire
