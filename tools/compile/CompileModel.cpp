#include "tools/compile/CompileModel.h"

#include "codegen/Codegen.h"
#include "frontends/Import.h"
#include "frontends/formats/HuggingFaceDirectory.h"
#include "passes/Explain.h"
#include "passes/Pipeline.h"
#include "tools/compile/Diagnostics.h"
#include "tools/compile/Interrupt.h"
#include "tools/compile/ModelText.h"
#include "tools/compile/PrintPlan.h"
#include "tools/compile/Progress.h"
#include "tools/machine/MachineProfileFile.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

using namespace mlir;

namespace quire {

namespace {

constexpr const char *kCompilerVersion = QUIRE_VERSION;

std::string printModule(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  os << "\n";
  return text;
}

class Compilation {
public:
  Compilation(const CompileOptions &options, const MachineChoice &machine)
      : options(options), machine(machine), progress(!options.quiet) {
    prepareContext(context);
  }

  LogicalResult run() {
    bool complete = options.pipeline.stopAfter.empty() && !options.noWeights;
    if (complete) {
      absl::Status free = checkEngineDirectory(options.output, options.force);
      if (!free.ok()) {
        return reportError(free);
      }
    }
    if (failed(import()) || failed(lower())) {
      return failure();
    }
    if (options.explain) {
      printExplanations(*model.module, llvm::outs());
    }
    if (options.noWeights && options.pipeline.stopAfter.empty()) {
      printPlan(*model.module, model.config.maxContext, llvm::outs());
    }
    return complete ? write() : success();
  }

private:
  LogicalResult import() {
    if (options.noWeights) {
      std::filesystem::path path = options.model;
      path = std::filesystem::is_directory(path) ? path / "config.json" : path;
      FailureOr<ImportedModel> imported =
          importConfig(context, path.string(), options.maxContext);
      if (succeeded(imported)) {
        model = *std::move(imported);
      }
      return imported;
    }
    auto opened = openCheckpoint(options.model);
    if (!opened.ok()) {
      return reportError(opened.status());
    }
    checkpoint = *std::move(opened);
    FailureOr<ImportedModel> imported =
        importCheckpoint(context, *checkpoint, options.maxContext);
    if (succeeded(imported)) {
      model = *std::move(imported);
    }
    return imported;
  }

  LogicalResult lower() {
    PipelineOptions pipeline = options.pipeline;
    if (machine.rates) {
      pipeline.readGbps = machine.rates->readGbps;
      pipeline.int8Gops = machine.rates->int8Gops;
      pipeline.f32Gops = machine.rates->f32Gops;
    }
    return runPipeline(*model.module, pipeline,
                       [&](ModuleOp module, const Phase &phase,
                           std::string_view pass, double seconds) {
                         if (!pass.empty()) {
                           if (pass == options.dumpAfterPass) {
                             std::cout << printModule(module);
                           }
                           return success();
                         }
                         progress.done("phase " + std::string(phase.name),
                                       seconds);
                         return keepPhase(module, phase);
                       });
  }

  LogicalResult keepPhase(ModuleOp module, const Phase &phase) {
    int64_t number = phaseNumber++;
    if (options.dumpDirectory.empty()) {
      return success();
    }
    std::error_code error;
    std::filesystem::create_directories(options.dumpDirectory, error);
    auto path =
        std::filesystem::path(options.dumpDirectory) /
        (std::to_string(number) + "-" + std::string(phase.name) + ".mlir");
    std::string text = printModule(module);
    std::ofstream file(path);
    file << text;
    file.close();
    if (!file) {
      return reportError(absl::UnavailableError(
          "cannot write " + path.string() +
          "; give --dump-ir a directory that can be written"));
    }
    ir.emplace_back(phase.name, std::move(text));
    return success();
  }

  void describe(manifest::Manifest &manifest, const ModelText &text) {
    manifest.set_compiler_version(kCompilerVersion);
    manifest.set_machine_profile(machine.name);
    const ModelConfig &config = model.config;
    manifest::Model &info = *manifest.mutable_model();
    info.set_name(config.name);
    info.set_architecture(config.architecture);
    info.set_vocabulary(config.vocabulary);
    info.set_hidden(config.hidden);
    info.set_layers(int64_t(config.layers.size()));
    info.set_heads(config.heads);
    info.set_kv_heads(config.kvHeads);
    info.set_max_context(config.maxContext);
    info.set_max_batch_tokens(options.pipeline.maxRows);
    int64_t parameters = 0;
    for (const TensorView &tensor : checkpoint->tensors()) {
      int64_t count = 1;
      for (int64_t size : tensor.shape) {
        count *= size;
      }
      parameters += count;
    }
    info.set_parameters(parameters);
    manifest.set_chat_template(text.chatTemplate);
    *manifest.mutable_generation() = text.generation;
    // An id outside the vocabulary is never drawn, so it ends nothing; some
    // configurations say -1 for "none".
    auto &stops = *manifest.mutable_generation()->mutable_stop_tokens();
    stops.erase(std::remove_if(stops.begin(), stops.end(),
                               [&](int64_t id) {
                                 return id < 0 || id >= config.vocabulary;
                               }),
                stops.end());
    auto &kept = *manifest.mutable_options();
    kept["quantize"] = options.pipeline.quantize;
    kept["kv"] = options.pipeline.kvFormat;
    kept["page-size"] = std::to_string(options.pipeline.pageSize);
    kept["max-context"] = std::to_string(config.maxContext);
    kept["max-batch-tokens"] = std::to_string(options.pipeline.maxRows);
    if (!options.pipeline.disabled.empty()) {
      kept["disable-pass"] = llvm::join(options.pipeline.disabled, ",");
    }
  }

  LogicalResult write() {
    auto text = readModelText(*checkpoint);
    if (!text.ok()) {
      return reportError(text.status());
    }
    EngineWriteOptions engine;
    engine.directory = options.output;
    engine.force = options.force;
    engine.isas = options.isas;
    describe(engine.source.description, *text);
    if (text->tokenizer) {
      engine.source.writeTokenizer = [&](const std::string &path) {
        return text->tokenizer->save(path);
      };
    }
    engine.source.ir = std::move(ir);
    engine.progress = [&](std::string_view stage, int64_t done, int64_t all) {
      progress.update(std::string(stage), done, all);
    };
    engine.cancelled = interrupted;
    EngineReport report;
    if (failed(writeEngine(*model.module, *checkpoint, engine, report))) {
      return failure();
    }
    for (const EngineReport::Stage &stage : report.stages) {
      progress.done(stage.name, stage.seconds);
    }
    progress.summary(options.output, report.engineBytes);
    return success();
  }

  const CompileOptions &options;
  const MachineChoice &machine;
  Progress progress;
  MLIRContext context;
  std::unique_ptr<Checkpoint> checkpoint;
  ImportedModel model;
  std::vector<std::pair<std::string, std::string>> ir;
  int64_t phaseNumber = 0;
};

} // namespace

int compileModel(const CompileOptions &options) {
  catchInterrupts();
  auto machine = chooseMachineProfile(options.machineProfile);
  if (!machine.ok()) {
    (void)reportError(machine.status());
    return 1;
  }
  Compilation compilation(options, *machine);
  if (failed(compilation.run())) {
    return interrupted() ? 130 : 1;
  }
  return 0;
}

} // namespace quire
