// The interpreter on a two-layer model: caching, chunking, pages and draft
// trees change no bit.

#include "tests/ir/reference/TwoLayerModule.h"

#include "ir/reference/Interpreter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace quire::reference {
namespace {

using testing::DrawnParams;
using testing::withCache;
using testing::withoutCache;

const std::vector<int32_t> kTokens = {3, 14, 15, 9, 26, 5, 3, 8, 9, 7};

class InterpreterTest : public ::testing::Test {
protected:
  InterpreterTest() {
    context.loadDialect<mlir::func::FuncDialect, lm::LmDialect>();
  }

  /// A fresh interpreter of the module that `text` spells.
  std::unique_ptr<Interpreter> start(const std::string &text) {
    modules.push_back(mlir::parseSourceString<mlir::ModuleOp>(text, &context));
    EXPECT_TRUE(modules.back());
    return std::make_unique<Interpreter>(*modules.back(), params);
  }

  static Rows run(Interpreter &interpreter, const StepInput &input) {
    llvm::FailureOr<Rows> logits = interpreter.step(input);
    EXPECT_TRUE(llvm::succeeded(logits));
    return llvm::succeeded(logits) ? *logits : Rows();
  }

  static Rows prompt(Interpreter &interpreter,
                     std::span<const int32_t> tokens) {
    std::vector<int64_t> pageSizes = interpreter.pageSizes();
    return run(interpreter, chainStep(tokens, 0, pageSizes));
  }

  mlir::MLIRContext context;
  DrawnParams params;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

TEST_F(InterpreterTest, CacheGivesTheBitsOfRecomputing) {
  for (int64_t window : {0, 3}) {
    Rows plain = prompt(*start(withoutCache(window)), kTokens);
    Rows cached = prompt(*start(withCache("f32", window)), kTokens);
    ASSERT_EQ(plain.rows, 10);
    EXPECT_EQ(plain.values, cached.values);
  }
}

TEST_F(InterpreterTest, ChunksGiveTheBitsOfOnePrompt) {
  for (const char *format : {"f32", "f16", "bf16"}) {
    Rows whole = prompt(*start(withCache(format, 0)), kTokens);
    for (size_t chunk : {1, 3}) {
      auto chunked = start(withCache(format, 0));
      std::vector<float> values;
      for (size_t i = 0; i < kTokens.size(); i += chunk) {
        size_t count = std::min(chunk, kTokens.size() - i);
        Rows part = run(*chunked, chainStep({kTokens.data() + i, count}, i,
                                            chunked->pageSizes()));
        values.insert(values.end(), part.values.begin(), part.values.end());
      }
      EXPECT_EQ(whole.values, values);
    }
  }
}

TEST_F(InterpreterTest, StoredFormatShowsInTheLogits) {
  Rows exact = prompt(*start(withCache("f32", 0)), kTokens);
  Rows rounded = prompt(*start(withCache("bf16", 0)), kTokens);
  EXPECT_NE(exact.values, rounded.values);
  for (size_t i = 0; i < exact.values.size(); ++i) {
    EXPECT_NEAR(exact.values[i], rounded.values[i], 0.05);
  }
}

TEST_F(InterpreterTest, PagesMayLieAnywhere) {
  auto straight = start(withCache("f32", 0));
  auto scattered = start(withCache("f32", 0));
  StepInput input = chainStep(kTokens, 0, scattered->pageSizes());
  input.group[0].pages[0] = {7, 2, 5};
  for (size_t i = 0; i < kTokens.size(); ++i) {
    input.group[0].slot[i] = input.group[0].pages[0][i / 4] * 4 + i % 4;
  }
  EXPECT_EQ(prompt(*straight, kTokens).values, run(*scattered, input).values);
}

TEST_F(InterpreterTest, SequencesInOneStepDoNotMeet) {
  std::vector<int32_t> other = {1, 2, 4};
  Rows first = prompt(*start(withCache("f32", 0)), kTokens);
  Rows second = prompt(*start(withCache("f32", 0)), other);

  auto both = start(withCache("f32", 0));
  StepInput input = chainStep(kTokens, 0, both->pageSizes());
  input.group[0].pages.push_back({3});
  for (int32_t i = 0; i < 3; ++i) {
    input.token.push_back(other[i]);
    input.position.push_back(i);
    input.context.push_back(i);
    input.prompt.push_back(3);
    input.sequence.push_back(1);
    input.group[0].slot.push_back(12 + i);
    input.logitRow.push_back(10 + i);
  }
  std::vector<float> expected = first.values;
  expected.insert(expected.end(), second.values.begin(), second.values.end());
  EXPECT_EQ(run(*both, input).values, expected);
}

/// A draft tree after `kTokens`: branches (11, 12) and (20, 21) whose first
/// tokens both stand at position 10.
StepInput twoBranches() {
  StepInput tree;
  tree.token = {11, 12, 20, 21};
  tree.position = {10, 11, 10, 11};
  tree.context = {10, 10, 10, 10};
  tree.sequence = {0, 0, 0, 0};
  tree.logitRow = {0, 1, 2, 3};
  StepInput::Group group;
  group.pages = {{0, 1, 2}};
  group.slot = {10, 11, 16, 17}; // the second branch in a page of its own
  group.ancestors = {{}, {10}, {}, {16}};
  tree.group = {group};
  return tree;
}

TEST_F(InterpreterTest, ATreeGivesTheBitsOfItsBranchesAlone) {
  for (const char *format : {"f32", "bf16"}) {
    for (int64_t window : {0, 2, 5}) {
      std::vector<float> alone;
      for (std::vector<int32_t> branch :
           {std::vector<int32_t>{11, 12}, std::vector<int32_t>{20, 21}}) {
        auto chain = start(withCache(format, window));
        prompt(*chain, kTokens);
        for (int32_t i = 0; i < 2; ++i) {
          Rows row = run(
              *chain, chainStep({&branch[i], 1}, 10 + i, chain->pageSizes()));
          alone.insert(alone.end(), row.values.begin(), row.values.end());
        }
      }
      auto verified = start(withCache(format, window));
      prompt(*verified, kTokens);
      EXPECT_EQ(run(*verified, twoBranches()).values, alone);
    }
  }
}

TEST_F(InterpreterTest, CommittedBranchContinuesAsIfDecoded) {
  std::vector<int32_t> text = kTokens;
  text.insert(text.end(), {20, 21, 6});
  Rows whole = prompt(*start(withCache("f32", 0)), text);

  auto drafted = start(withCache("f32", 0));
  prompt(*drafted, kTokens);
  run(*drafted, twoBranches());
  drafted->cache(0).copySlot(16, 10);
  drafted->cache(0).copySlot(17, 11);
  Rows next =
      run(*drafted, chainStep({&text[12], 1}, 12, drafted->pageSizes()));
  EXPECT_TRUE(std::equal(next.values.begin(), next.values.end(),
                         whole.row(12).begin()));
}

TEST_F(InterpreterTest, DeadRowsWriteNothingAndDisturbNobody) {
  Rows alone = prompt(*start(withCache("f32", 0)), kTokens);
  auto padded = start(withCache("f32", 0));
  StepInput input = chainStep(kTokens, 0, padded->pageSizes());
  input.token.push_back(0);
  input.position.push_back(0);
  input.context.push_back(0);
  input.prompt.push_back(0);
  input.sequence.push_back(0);
  input.group[0].slot.push_back(-1);
  EXPECT_EQ(run(*padded, input).values, alone.values);
}

TEST_F(InterpreterTest, OnlyWantedRowsGetLogits) {
  Rows all = prompt(*start(withCache("f32", 0)), kTokens);
  auto last = start(withCache("f32", 0));
  StepInput input = chainStep(kTokens, 0, last->pageSizes());
  input.logitRow = {9};
  Rows one = run(*last, input);
  ASSERT_EQ(one.rows, 1);
  EXPECT_TRUE(
      std::equal(one.values.begin(), one.values.end(), all.row(9).begin()));
}

TEST_F(InterpreterTest, ProbeSeesEveryLayersOps) {
  auto interpreter = start(withCache("f32", 0));
  std::vector<int64_t> layers;
  interpreter->setProbe(
      [&](mlir::Operation *op, int64_t layer, unsigned, const Rows &rows) {
        if (llvm::isa<lm::PagedAttentionOp>(op)) {
          layers.push_back(layer);
          EXPECT_EQ(rows.rows, 10);
          EXPECT_EQ(rows.features, 16);
        }
      });
  prompt(*interpreter, kTokens);
  EXPECT_THAT(layers, ::testing::ElementsAre(0, 1));
}

TEST_F(InterpreterTest, ReadingAnUnwrittenSlotIsAnError) {
  auto interpreter = start(withCache("f32", 0));
  mlir::ScopedDiagnosticHandler quiet(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  int32_t token = 1;
  EXPECT_TRUE(llvm::failed(
      interpreter->step(chainStep({&token, 1}, 5, interpreter->pageSizes()))));
}

TEST_F(InterpreterTest, AStepThatDoesNotFitTogetherIsAnError) {
  auto interpreter = start(withCache("f32", 0));
  mlir::ScopedDiagnosticHandler quiet(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  StepInput input = chainStep(kTokens, 0, interpreter->pageSizes());
  input.context[4] = 2; // no ancestors for positions 2 and 3
  EXPECT_TRUE(llvm::failed(interpreter->step(input)));
}

} // namespace
} // namespace quire::reference
