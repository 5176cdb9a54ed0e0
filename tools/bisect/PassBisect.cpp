#include "tools/bisect/PassBisect.h"

#include "ir/reference/Interpreter.h"
#include "tools/bisect/PassBars.h"

using namespace mlir;

namespace quire::bisect {

using reference::logitError;

PassBisect::PassBisect(reference::ParamSource &params,
                       std::vector<int32_t> tokens,
                       const PipelineOptions &options,
                       std::function<void(const PassChange &)> progress)
    : params(params), tokens(std::move(tokens)), options(options),
      progress(std::move(progress)) {}

std::vector<float> PassBisect::logitsOf(ModuleOp module) {
  // A step reads each weight once: keeping them would only take memory.
  reference::Interpreter interpreter(module, params, {.weightCacheBytes = 0});
  FailureOr<reference::Rows> logits = interpreter.step(
      reference::chainStep(tokens, 0, interpreter.pageSizes()));
  return failed(logits) ? std::vector<float>() : std::move(logits->values);
}

LogicalResult PassBisect::begin(ModuleOp module) {
  imported = logitsOf(module);
  before = imported;
  return success(!imported.empty());
}

LogicalResult PassBisect::observe(ModuleOp module, const Phase &phase,
                                  std::string_view pass) {
  if (pass.empty()) {
    return success(); // the end of a phase
  }
  std::vector<float> after = logitsOf(module);
  judged.push_back({.phase = std::string(phase.name),
                    .pass = std::string(pass),
                    .change = logitError(after, before),
                    .fromImport = logitError(after, imported),
                    .bar = barOf(pass, options)});
  progress(judged.back());
  before = std::move(after);
  return success(!before.empty());
}

const PassChange *PassBisect::firstWrong() const {
  auto wrong = llvm::find_if(
      judged, [](const PassChange &change) { return !change.isSound(); });
  return wrong == judged.end() ? nullptr : &*wrong;
}

} // namespace quire::bisect
