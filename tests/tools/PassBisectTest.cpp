// The bisection names the pass after which the numbers are others, and none
// where all is well.

#include "tools/bisect/PassBisect.h"
#include "frontends/Import.h"
#include "ir/lm/Lm.h"
#include "ir/reference/CheckpointParams.h"
#include "ir/rt/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

using namespace mlir;

namespace quire::bisect {
namespace {

/// Makes norms of queer numbers, in whichever dialect they stand.
void spoilNorms(ModuleOp module) {
  Builder builder(module.getContext());
  module.walk([&](Operation *op) {
    if (op->hasAttr("epsilon")) {
      op->setAttr("epsilon", builder.getF64FloatAttr(0.5));
    }
    auto launch = dyn_cast<rt::LaunchOp>(op);
    if (!launch) {
      return;
    }
    SmallVector<Attribute> parts;
    for (auto part : launch.getParts().getAsRange<rt::PartAttr>()) {
      NamedAttrList arguments(part.getArgs());
      if (arguments.get("epsilon")) {
        arguments.set("epsilon", builder.getF64FloatAttr(0.5));
      }
      parts.push_back(
          rt::PartAttr::get(op->getContext(), part.getKernel(),
                            arguments.getDictionary(op->getContext())));
    }
    launch.setPartsAttr(builder.getArrayAttr(parts));
  });
}

class Bisected {
public:
  /// `spoil` names the pass that is made to go wrong; "": none is.
  Bisected(const std::string &path, const PipelineOptions &options,
           std::string_view spoil = "") {
    context.loadDialect<lm::LmDialect, rt::RtDialect, func::FuncDialect>();
    auto opened = openCheckpoint(path);
    if (!opened.ok()) {
      ADD_FAILURE() << opened.status();
      return;
    }
    auto model = importCheckpoint(context, **opened, 0);
    if (failed(model)) {
      ADD_FAILURE() << "import";
      return;
    }
    reference::CheckpointParams params(**opened);
    PassBisect bisect(params, {1, 77, 5, 200, 31, 9}, options,
                      [](const PassChange &) {});
    auto observe = [&](ModuleOp module, const Phase &phase,
                       std::string_view pass, double) {
      if (!pass.empty() && pass == spoil) {
        spoilNorms(module);
      }
      return bisect.observe(module, phase, pass);
    };
    EXPECT_TRUE(succeeded(bisect.begin(*model->module)));
    EXPECT_TRUE(succeeded(runPipeline(*model->module, options, observe)));
    changes = bisect.changes();
    first = bisect.firstWrong() ? bisect.firstWrong()->pass : "";
  }

  int64_t wrong() const {
    return std::ranges::count_if(
        changes, [](const PassChange &change) { return !change.isSound(); });
  }

  MLIRContext context;
  std::vector<PassChange> changes;
  std::string first;
};

struct Formats {
  std::string quantize;
  std::string kv;
};

void PrintTo(const Formats &formats, std::ostream *os) {
  *os << formats.quantize << " weights, " << formats.kv << " cache";
}

size_t passesOfPipeline() {
  size_t passes = 0;
  for (const Phase &phase : pipelinePhases()) {
    passes += phase.passes.size();
  }
  return passes;
}

/// The bundled model, and random ones where they are.
std::vector<std::string> checkpoints() {
  std::vector<std::string> paths = {QUIRE_TINY_MODEL};
  const char *random = std::getenv("QUIRE_TINY_RANDOM");
  std::error_code error;
  for (auto &entry : std::filesystem::directory_iterator(
           random != nullptr ? random : "", error)) {
    paths.push_back(entry.path().string());
  }
  return paths;
}

class PassBisectTest : public testing::TestWithParam<Formats> {};

TEST_P(PassBisectTest, SoundModelsAreSound) {
  PipelineOptions options;
  options.quantize = GetParam().quantize;
  options.kvFormat = GetParam().kv;
  for (const std::string &path : checkpoints()) {
    Bisected bisected(path, options);
    for (const PassChange &change : bisected.changes) {
      EXPECT_TRUE(change.isSound())
          << path << ": " << change.pass << " " << change.change.typical;
    }
    EXPECT_EQ(bisected.changes.size(), passesOfPipeline());
    EXPECT_EQ(bisected.first, "");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Formats, PassBisectTest,
    testing::Values(Formats{"keep", "bf16"}, Formats{"f32", "f16"},
                    Formats{"bf16", "f32"}, Formats{"int8", "f32"},
                    Formats{"int4", "bf16"}, Formats{"int4a", "f32"}));

/// In every phase, before and behind the passes that may round.
class SpoiledPassTest : public testing::TestWithParam<std::string> {};

TEST_P(SpoiledPassTest, IsNamed) {
  PipelineOptions options;
  options.quantize = "int8";
  Bisected bisected(QUIRE_TINY_MODEL, options, GetParam());
  EXPECT_EQ(bisected.first, GetParam());
  // Those behind it keep what it made.
  EXPECT_EQ(bisected.wrong(), 1);
}

INSTANTIATE_TEST_SUITE_P(Passes, SpoiledPassTest,
                         testing::Values("fuse-qkv", "fuse-residual-norm",
                                         "insert-paged-kv", "quantize-weights",
                                         "fuse-quantization", "select-kernels",
                                         "lower-lm-to-rt", "place-barriers"));

} // namespace
} // namespace quire::bisect
