// The whole way out: an rt module becomes an engine directory, which the
// runtime opens and whose step computes what the module says, at every ISA
// level this machine has.

#include "codegen/Codegen.h"
#include "ir/lm/Lm.h"
#include "ir/rt/Rt.h"
#include "runtime/engine/EngineDirectory.h"
#include "runtime/engine/IsaLevel.h"
#include "tests/codegen/engine/TinyModule.h"
#include "tests/support/TemporaryDirectory.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace quire::test {
namespace {

class WriteEngine : public ::testing::Test {
protected:
  WriteEngine()
      : checkpoint(tinyCheckpoint(inputs.path() + "/model")),
        handler(&context, [&](mlir::Diagnostic &diagnostic) {
          message = diagnostic.str();
        }) {
    context
        .loadDialect<lm::LmDialect, rt::RtDialect, mlir::func::FuncDialect>();
    options.directory = directory.path() + "/engine";
    manifest::Model &model = *options.source.description.mutable_model();
    model.set_vocabulary(kVocabulary);
    model.set_max_context(128);
    model.set_max_batch_tokens(8);
  }

  bool write(const std::string &text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << message;
    return module &&
           succeeded(writeEngine(*module, *checkpoint, options, report));
  }

  /// Every file and directory in the temporary directory.
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto &entry :
         std::filesystem::directory_iterator(directory.path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  TemporaryDirectory inputs;
  TemporaryDirectory directory;
  std::unique_ptr<Checkpoint> checkpoint;
  mlir::MLIRContext context;
  std::string message;
  mlir::ScopedDiagnosticHandler handler;
  EngineWriteOptions options;
  EngineReport report;
};

/// Arena and scratch start on cache lines: the step relies on it.
std::byte *alignedTo64(std::vector<std::byte> &bytes) {
  auto address = reinterpret_cast<uintptr_t>(bytes.data());
  return bytes.data() + (64 - address % 64) % 64;
}

/// A runtime of one worker: tiles run in order, barriers have nothing to do.
struct OneWorker {
  std::vector<std::byte> scratch;
  std::vector<int32_t> launches;

  static void launch(QuireWorker *worker, int32_t number,
                     QuireTileCountFn count, QuireTileFn tile,
                     const QuireStep *step, const QuireLayer *layer) {
    auto &self = *reinterpret_cast<OneWorker *>(worker);
    self.launches.push_back(number);
    std::byte *aligned = alignedTo64(self.scratch);
    for (int64_t i = 0, tiles = count(step, layer); i < tiles; ++i) {
      tile(step, layer, i, aligned);
    }
  }
  static void barrier(QuireWorker *) {}
};

std::vector<float> runStep(const EngineDirectory &engine, OneWorker &worker,
                           const std::vector<int32_t> &tokens,
                           const std::vector<int32_t> &logitRows) {
  QuireBatch batch = {};
  batch.rows = static_cast<int32_t>(tokens.size());
  batch.logitRows = static_cast<int32_t>(logitRows.size());
  batch.token = tokens.data();
  batch.logitRow = logitRows.data();
  std::vector<float> logits(logitRows.size() * kVocabulary);
  std::vector<std::byte> arena(
      static_cast<size_t>(engine.manifest().arena_bytes()) + 64);
  QuireStep step = {&batch, engine.weights(), alignedTo64(arena), nullptr,
                    logits.data()};
  worker.scratch.resize(static_cast<size_t>(engine.manifest().scratch_bytes()) +
                        64);
  QuireWorkerApi api = {&OneWorker::launch, &OneWorker::barrier};
  engine.step()(&step, &api, reinterpret_cast<QuireWorker *>(&worker));
  return logits;
}

TEST_F(WriteEngine, RunsAtEveryLevel) {
  ASSERT_TRUE(write(tinyModule())) << message;
  std::vector<int32_t> tokens = {5, 91, 17};
  std::vector<int32_t> logitRows = {0, 2};
  std::vector<float> expected = tinyLogits(*checkpoint, tokens, logitRows);
  for (const char *isa : {"portable", "avx2", "avx512"}) {
    if (!cpuSupportsIsa(isa)) {
      continue; // the others still run
    }
    EngineOpenOptions open;
    open.isa = isa;
    open.verifyWeights = true;
    auto engine = EngineDirectory::open(options.directory, open);
    ASSERT_TRUE(engine.ok()) << engine.status();
    OneWorker worker;
    std::vector<float> logits = runStep(**engine, worker, tokens, logitRows);
    for (size_t i = 0; i < logits.size(); ++i) {
      ASSERT_NEAR(logits[i], expected[i], 2e-4) << isa << " at " << i;
    }
    // Launches are numbered as they stand in the module; the layer's come
    // first and run once a layer.
    EXPECT_EQ(worker.launches,
              (std::vector<int32_t>{3, 4, 0, 1, 2, 0, 1, 2, 5, 6}));
    // A row's bits do not depend on its neighbours.
    OneWorker alone;
    std::vector<float> single = runStep(**engine, alone, {17}, {0});
    EXPECT_TRUE(
        std::equal(single.begin(), single.end(), logits.begin() + kVocabulary))
        << isa;
  }
}

TEST_F(WriteEngine, DescribesItself) {
  bool asked = false;
  options.source.writeTokenizer = [&](const std::string &path) {
    asked = true;
    std::ofstream(path) << "tokenizer";
    return absl::OkStatus();
  };
  options.source.ir = {{"rt", "module {}"}};
  ASSERT_TRUE(write(tinyModule())) << message;
  EXPECT_TRUE(asked);
  auto engine = EngineDirectory::open(options.directory);
  ASSERT_TRUE(engine.ok()) << engine.status();
  const manifest::Manifest &manifest = (*engine)->manifest();
  EXPECT_EQ(manifest.arena_bytes(), 5 * 8 * 256);
  EXPECT_EQ(manifest.model().max_logit_rows(), 8);
  EXPECT_EQ(manifest.code_size(), 3);
  EXPECT_EQ(manifest.weights().entries_size(), 5);
  ASSERT_EQ(manifest.programs_size(), 1);
  ASSERT_EQ(manifest.programs(0).launches_size(), 7);
  EXPECT_EQ(manifest.programs(0).launches(1).name(), "dense.proj");
  EXPECT_EQ(manifest.programs(0).launches(1).kernel(), "linear_f32");
  EXPECT_EQ(manifest.programs(0).launches(1).bytes(), 16384);
  EXPECT_TRUE(std::filesystem::exists(options.directory + "/ir/rt.mlir"));
  EXPECT_EQ(entries(), std::vector<std::string>{"engine"});
  EXPECT_GT(report.engineBytes, report.weightBytes + report.codeBytes);
}

TEST_F(WriteEngine, ReplacesOnlyWithForceAndOnlyEngines) {
  options.isas = {"portable"};
  ASSERT_TRUE(write(tinyModule())) << message;
  EXPECT_FALSE(write(tinyModule()));
  EXPECT_NE(message.find("--force"), std::string::npos) << message;
  options.force = true;
  EXPECT_TRUE(write(tinyModule())) << message;
  EXPECT_EQ(entries(), std::vector<std::string>{"engine"});

  options.directory = directory.path() + "/precious";
  std::filesystem::create_directory(options.directory);
  std::ofstream(options.directory + "/work.txt") << "years of it";
  EXPECT_FALSE(write(tinyModule()));
  EXPECT_NE(message.find("is not an engine"), std::string::npos) << message;
  EXPECT_TRUE(std::filesystem::exists(options.directory + "/work.txt"));
}

TEST_F(WriteEngine, LeavesNothingBehindWhenItFails) {
  options.source.writeTokenizer = [](const std::string &) {
    return absl::ResourceExhaustedError("no space left on device");
  };
  EXPECT_FALSE(write(tinyModule()));
  EXPECT_EQ(message, "no space left on device");
  EXPECT_TRUE(entries().empty());

  options.source.writeTokenizer = nullptr;
  options.cancelled = [] { return true; };
  EXPECT_FALSE(write(tinyModule()));
  EXPECT_EQ(message, "the compilation was interrupted");
  EXPECT_TRUE(entries().empty());
}

TEST_F(WriteEngine, NamesWhatDoesNotFit) {
  auto replaced = [](const std::string &from, const std::string &to) {
    std::string text = tinyModule();
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  options.isas = {"portable"};
  EXPECT_FALSE(write(replaced("source \"embed\"", "source \"other\"")));
  EXPECT_NE(message.find("no tensor 'other'"), std::string::npos) << message;
  EXPECT_FALSE(write(replaced("gather_logit_rows", "gather_all_rows")));
  EXPECT_NE(message.find("no kernel 'gather_all_rows'"), std::string::npos)
      << message;
  EXPECT_FALSE(write(replaced("tileRows = 2", "tileRows = 0")));
  EXPECT_NE(message.find("tileRows"), std::string::npos) << message;
  EXPECT_FALSE(write(replaced("inputs = [@z], outputs = [@t]",
                              "inputs = [@t], outputs = [@t]")));
  EXPECT_NE(message.find("overlaps"), std::string::npos) << message;
  options.isas = {"sparc"};
  EXPECT_FALSE(write(tinyModule()));
  EXPECT_NE(message.find("sparc"), std::string::npos) << message;
}

} // namespace
} // namespace quire::test
