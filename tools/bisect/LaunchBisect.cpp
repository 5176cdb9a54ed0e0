#include "tools/bisect/LaunchBisect.h"

#include "codegen/cpu/PartCheck.h"
#include "ir/lm/Lm.h"
#include "passes/LaunchAccess.h"
#include "tools/bisect/LaunchError.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace quire::bisect {

using reference::Rows;

namespace {

/// The checkpoint's names of what a part's weights are made of.
std::vector<std::string> tensorsOf(rt::PartAttr part, int64_t layer,
                                   SymbolTable &symbols) {
  std::vector<std::string> names;
  for (FlatSymbolRefAttr slot : weightSlotsOf(part)) {
    auto weight = symbols.lookup<rt::WeightOp>(slot.getAttr());
    weight.walk([&](lm::LoadParamOp load) {
      auto param = symbols.lookup<lm::ParamOp>(load.getParamAttr().getAttr());
      names.push_back(param.hasTensorPerMatrix() ? param.getSource().str()
                                                 : param.tensorName(layer, 0));
    });
  }
  return names;
}

/// Keeps the result that is furthest over its bar, or nearest to it.
void keepWorst(LaunchChange candidate, LaunchChange &worst) {
  auto share = [](const LaunchChange &change) {
    return change.bar > 0 ? change.error / change.bar : change.error;
  };
  bool isWorse = worst.buffer.empty() ||
                 (worst.isSound() && !candidate.isSound()) ||
                 (worst.isSound() == candidate.isSound() &&
                  share(candidate) > share(worst));
  if (isWorse) {
    worst = std::move(candidate);
  }
}

} // namespace

LaunchBisect::LaunchBisect(ModuleOp scheduled, reference::ParamSource &params,
                           Engine &engine)
    : module(scheduled), symbols(scheduled), engine(engine),
      interpreter(scheduled, params, {.weightCacheBytes = 0}) {}

/// The engine's launches and buffers must be the module's; else addresses
/// would mean something else.
LogicalResult LaunchBisect::checkEngine() {
  FailureOr<StepPlan> built = StepPlan::build(module);
  if (failed(built)) {
    return failure();
  }
  plan = *std::move(built);
  const manifest::Manifest &manifest = engine.engineDirectory()->manifest();
  auto differs = [&](const Twine &what) {
    return module.emitError()
           << "the engine " << what
           << ", so it was compiled from another checkpoint or by another "
              "compiler; compile the model again";
  };
  if (manifest.programs_size() != 1 ||
      size_t(manifest.programs(0).launches_size()) != plan->launches().size()) {
    return differs("has other launches");
  }
  for (auto [i, planned] : llvm::enumerate(plan->launches())) {
    const std::string &name = manifest.programs(0).launches(int(i)).name();
    if (name != planned.name) {
      return differs("has a launch " + name + " in place of " + planned.name);
    }
  }
  for (const manifest::Buffer &entry : manifest.buffers()) {
    auto buffer = symbols.lookup<rt::BufferOp>(entry.name());
    if (!buffer || !buffer.getOffset() ||
        int64_t(*buffer.getOffset()) != entry.offset()) {
      return differs("has its buffer " + entry.name() + " elsewhere");
    }
  }
  return success();
}

LogicalResult LaunchBisect::record(const std::vector<int32_t> &tokens) {
  interpreter.setLaunchProbe([&](Operation *op, int64_t layer) {
    auto launch = cast<rt::LaunchOp>(op);
    Record record = {launch, layer, {}};
    for (NativeBuffer &buffer : buffersWrittenBy(launch, symbols)) {
      if (const Rows *rows = interpreter.buffer(buffer.name)) {
        record.buffers.push_back({std::move(buffer), *rows});
      }
    }
    records.push_back(std::move(record));
  });
  FailureOr<Rows> logits = interpreter.step(
      reference::chainStep(tokens, 0, interpreter.pageSizes()));
  interpreter.setLaunchProbe(nullptr);
  return logits;
}

LogicalResult LaunchBisect::run(const std::vector<int32_t> &tokens) {
  if (failed(checkEngine()) || failed(record(tokens))) {
    return failure();
  }
  size_t next = 0;
  absl::Status status = engine.workers().watch(
      [&](int32_t number, const QuireStep &step, const QuireLayer *) {
        bool same = next < records.size() &&
                    plan->numberOf(records[next].launch) == number;
        if (same) {
          compare(records[next++], step);
        } else {
          next = records.size() + 1; // nothing behind it is comparable
        }
      });
  if (status.ok()) {
    status = engine.score(std::vector<int64_t>(tokens.begin(), tokens.end()),
                          {}, [](auto &&...) { return absl::OkStatus(); });
    (void)engine.workers().watch(nullptr);
  }
  if (!status.ok()) {
    return module.emitError() << std::string(status.message());
  }
  if (next != records.size()) {
    return module.emitError()
           << "the engine does not run the module's " << records.size()
           << " launches; compile the model again";
  }
  return success();
}

void LaunchBisect::compare(const Record &record, const QuireStep &step) {
  rt::LaunchOp launch = record.launch;
  LaunchChange worst;
  for (const Written &written : record.buffers) {
    const NativeBuffer &buffer = written.buffer;
    const Rows &expected = written.rows;
    Rows got = readBuffer(buffer, step, expected.rows, expected.features);
    keepWorst({.kernel = buffer.writer.getKernel().str(),
               .buffer = "@" + buffer.name,
               .tensors = tensorsOf(buffer.writer, record.layer, symbols),
               .error = errorOf(buffer.stored, got, expected),
               .unit = unitOf(buffer.stored),
               .bar = barOf(buffer.stored)},
              worst);
    writeBuffer(buffer, step, expected);
  }
  compareCaches(record, step, worst);
  worst.number = plan->numberOf(launch);
  worst.launch = plan->launches()[size_t(worst.number)].name;
  worst.layer = record.layer;
  judged.push_back(std::move(worst));
}

void LaunchBisect::compareCaches(const Record &record, const QuireStep &step,
                                 LaunchChange &worst) {
  FailureOr<LaunchAccess> access = accessOf(record.launch);
  for (auto group : module.getOps<rt::CacheGroupOp>()) {
    auto number = int64_t(group.getNumber());
    if (failed(access) || !access->writesGroups.contains(number)) {
      continue;
    }
    int64_t layer =
        llvm::find(group.getLayers(), record.layer) - group.getLayers().begin();
    // The step writes each slot of a layer once, so that what the interpreter
    // has at its end is what it appended.
    CacheRows expected =
        readCache(interpreter.cache(number), layer, step.batch->rows);
    CacheRows got = readCache(group, layer, step);
    for (bool keys : {true, false}) {
      keepWorst({.kernel = "kv_append_" + group.getFormat().str(),
                 .buffer = "@" + group.getSymName().str() +
                           (keys ? " keys" : " values"),
                 .error = errorOf(Stored::Floats, keys ? got.keys : got.values,
                                  keys ? expected.keys : expected.values),
                 .unit = unitOf(Stored::Floats),
                 .bar = kCacheBar},
                worst);
    }
    writeCache(group, layer, step, expected);
  }
}

const LaunchChange *LaunchBisect::firstWrong() const {
  auto wrong = llvm::find_if(
      judged, [](const LaunchChange &change) { return !change.isSound(); });
  return wrong == judged.end() ? nullptr : &*wrong;
}

} // namespace quire::bisect
