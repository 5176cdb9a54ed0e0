#include "passes/Pipeline.h"

#include "passes/Passes.h"

#include "mlir/Pass/PassManager.h"

#include <algorithm>
#include <array>
#include <chrono>

using namespace mlir;

namespace quire {

using Options = PipelineOptions;

static constexpr PipelinePass kRaise[] = {
    {"split-decoupled-rope", false,
     [](const Options &) { return createSplitDecoupledRope(); }},
};

static constexpr PipelinePass kShape[] = {
    {"fold-mla-absorb", false,
     [](const Options &options) {
       return createFoldMlaAbsorb({.form = options.mla,
                                   .quantize = options.quantize,
                                   .kvFormat = options.kvFormat,
                                   .pageSize = options.pageSize,
                                   .block = options.formBlock,
                                   .readGbps = options.readGbps,
                                   .int8Gops = options.int8Gops,
                                   .f32Gops = options.f32Gops});
     }},
    {"group-experts", false,
     [](const Options &) { return createGroupExperts(); }},
    {"fuse-gated-mlp", true,
     [](const Options &) { return createFuseGatedMlp(); }},
    {"fuse-qkv", true, [](const Options &) { return createFuseQkv(); }},
    {"fuse-residual-norm", true,
     [](const Options &) { return createFuseResidualNorm(); }},
};

static constexpr PipelinePass kServe[] = {
    {"insert-paged-kv", false,
     [](const Options &options) {
       return createInsertPagedKv({options.kvFormat, options.pageSize});
     },
     Rounds::Cache},
};

static constexpr PipelinePass kNumbers[] = {
    {"quantize-weights", false,
     [](const Options &options) {
       return createQuantizeWeights({options.quantize});
     },
     Rounds::Weights},
    {"fuse-quantization", false,
     [](const Options &) { return createFuseQuantization(); },
     Rounds::Activations},
};

static constexpr PipelinePass kSelect[] = {
    {"select-kernels", false,
     [](const Options &options) {
       return createSelectKernels(
           {options.readGbps, options.int8Gops, options.f32Gops});
     }},
};

static constexpr PipelinePass kSchedule[] = {
    {"lower-lm-to-rt", false,
     [](const Options &options) {
       // No step has more logit rows than rows.
       return createLowerLmToRt(
           {options.maxRows, std::min(options.maxRows, options.maxLogitRows)});
     }},
    {"plan-memory", false, [](const Options &) { return createPlanMemory(); }},
    {"place-barriers", false,
     [](const Options &) { return createPlaceBarriers(); }},
};

static constexpr std::array kPhases = {
    Phase{"import", "a verified lm module without a cache", {}},
    Phase{"raise", "recognised patterns stand as lm ops", kRaise},
    Phase{"shape", "products, norms and gates are fused", kShape},
    Phase{"serve", "the cache is explicit", kServe},
    Phase{"distribute", "the rank is a symbol", {}},
    Phase{"numbers", "every tensor's number format is decided", kNumbers},
    Phase{"select", "every op has a kernel", kSelect},
    Phase{"schedule", "rt only", kSchedule},
};

std::span<const Phase> pipelinePhases() { return kPhases; }

std::string optionsComplaint(const Options &options) {
  std::string phases, passes;
  bool knownPhase = options.stopAfter.empty();
  std::set<std::string> unknown = options.disabled;
  for (const Phase &phase : kPhases) {
    phases += (phases.empty() ? "" : ", ") + std::string(phase.name);
    knownPhase = knownPhase || phase.name == options.stopAfter;
    for (const PipelinePass &pass : phase.passes) {
      if (pass.optional) {
        passes += (passes.empty() ? "" : ", ") + std::string(pass.name);
        unknown.erase(std::string(pass.name));
      }
    }
  }
  if (!knownPhase) {
    return "--stop-after '" + options.stopAfter +
           "' names no phase; the phases are " + phases;
  }
  if (!unknown.empty()) {
    return "--disable-pass '" + *unknown.begin() +
           "' names no pass that can be switched off; those are " + passes;
  }
  return "";
}

static LogicalResult runPass(ModuleOp module, std::unique_ptr<Pass> pass) {
  PassManager manager(module.getContext());
  manager.addPass(std::move(pass));
  return manager.run(module);
}

LogicalResult runPipeline(ModuleOp module, const Options &options,
                          const PipelineObserver &observe) {
  using Clock = std::chrono::steady_clock;
  if (std::string text = optionsComplaint(options); !text.empty()) {
    return emitError(module.getLoc()) << text;
  }
  for (const Phase &phase : kPhases) {
    auto phaseStart = Clock::now();
    for (const PipelinePass &pass : phase.passes) {
      if (options.disabled.contains(std::string(pass.name))) {
        continue;
      }
      auto start = Clock::now();
      if (failed(runPass(module, pass.create(options)))) {
        return failure();
      }
      std::chrono::duration<double> spent = Clock::now() - start;
      if (failed(observe(module, phase, pass.name, spent.count()))) {
        return failure();
      }
    }
    std::chrono::duration<double> spent = Clock::now() - phaseStart;
    if (failed(observe(module, phase, "", spent.count()))) {
      return failure();
    }
    if (phase.name == options.stopAfter) {
      break;
    }
  }
  return success();
}

} // namespace quire
