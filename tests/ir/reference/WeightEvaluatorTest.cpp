// Parameters read from files, and the expressions on them.

#include "ir/reference/WeightEvaluator.h"
#include "ir/reference/CheckpointParams.h"
#include "tests/support/SafetensorsWriter.h"
#include "tests/support/TemporaryDirectory.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace quire::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WeightEvaluatorTest : public ::testing::Test {
protected:
  WeightEvaluatorTest() {
    context.loadDialect<mlir::func::FuncDialect, lm::LmDialect>();
    directory.write("config.json", "{}");
    test::SafetensorsWriter()
        .floats("layers.0.qkv", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})
        .floats("layers.1.qkv", {4, 2}, {-1, -2, -3, -4, -5, -6, -7, -8})
        .write(directory.file("model.safetensors"));
    auto opened = openCheckpoint(directory.path());
    EXPECT_TRUE(opened.ok()) << opened.status();
    checkpoint = std::move(*opened);
  }

  /// Evaluates the last weight that @f computes, in a layer.
  llvm::FailureOr<WeightPtr> evaluate(const std::string &text, int64_t layer) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    CheckpointParams params(*checkpoint);
    WeightEvaluator evaluator(params, 1 << 20);
    mlir::Value last;
    module->walk([&](mlir::Operation *op) {
      if (op->getNumResults() == 1) {
        last = op->getResult(0);
      }
    });
    mlir::ScopedDiagnosticHandler handler(&context,
                                          [&](mlir::Diagnostic &diagnostic) {
                                            message = diagnostic.str();
                                            return mlir::success();
                                          });
    return evaluator.evaluate(last, layer);
  }

  test::TemporaryDirectory directory;
  std::unique_ptr<Checkpoint> checkpoint;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string message;
};

TEST_F(WeightEvaluatorTest, TakesRowsOfTheLayersTensor) {
  auto weight = evaluate(R"mlir(
    lm.param @k source "layers.{}.qkv" shape [2, 2] formats [f32] layers 2 {row_begin = 1 : i64}
    func.func @f(%layer: index) {
      %w = lm.load_param @k[%layer] : !lm.weight<[2, 2], f32>
      return
    })mlir",
                         1);
  ASSERT_TRUE(llvm::succeeded(weight));
  EXPECT_THAT((*weight)->values, ElementsAre(-3, -4, -5, -6));
  EXPECT_THAT((*weight)->shape, ElementsAre(2, 2));
}

TEST_F(WeightEvaluatorTest, StacksTensorsAndTakesRowsOfEachMatrix) {
  auto weight = evaluate(R"mlir(
    lm.param @k source "layers.{expert}.qkv" shape [2, 1, 2] formats [f32] {row_begin = 3 : i64}
    func.func @f() {
      %w = lm.load_param @k : !lm.weight<[2, 1, 2], f32>
      return
    })mlir",
                         -1);
  ASSERT_TRUE(llvm::succeeded(weight));
  EXPECT_THAT((*weight)->values, ElementsAre(7, 8, -7, -8));
  test::SafetensorsWriter()
      .floats("stack", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})
      .write(directory.file("model.safetensors"));
  checkpoint = *openCheckpoint(directory.path());
  weight = evaluate(R"mlir(
    lm.param @k source "stack" shape [2, 1, 2] formats [f32] {row_begin = 1 : i64}
    func.func @f() {
      %w = lm.load_param @k : !lm.weight<[2, 1, 2], f32>
      return
    })mlir",
                    -1);
  ASSERT_TRUE(llvm::succeeded(weight));
  EXPECT_THAT((*weight)->values, ElementsAre(3, 4, 7, 8));
}

TEST_F(WeightEvaluatorTest, AppliesTransformsInOrder) {
  auto weight = evaluate(R"mlir(
    lm.param @k source "layers.{}.qkv" shape [4, 2] formats [f32] layers 2
    func.func @f(%layer: index) {
      %w = lm.load_param @k[%layer] : !lm.weight<[4, 2], f32>
      %u = lm.unpermute_rotary %w {head_dim = 4 : i64} : !lm.weight<[4, 2], f32>
      %a = lm.affine_weight %u {scale = 2.0 : f64, offset = 1.0 : f64} : !lm.weight<[4, 2], f32> -> !lm.weight<[4, 2], f32>
      return
    })mlir",
                         0);
  ASSERT_TRUE(llvm::succeeded(weight));
  EXPECT_THAT((*weight)->values, ElementsAre(3, 5, 11, 13, 7, 9, 15, 17));
}

TEST_F(WeightEvaluatorTest, NamesAMissingTensor) {
  EXPECT_TRUE(llvm::failed(evaluate(R"mlir(
    lm.param @k source "layers.{}.gone" shape [4, 2] formats [f32] layers 2
    func.func @f(%layer: index) {
      %w = lm.load_param @k[%layer] : !lm.weight<[4, 2], f32>
      return
    })mlir",
                                    0)));
  EXPECT_THAT(message, HasSubstr("has no tensor 'layers.0.gone'"));
}

TEST_F(WeightEvaluatorTest, RefusesRowsThatTheTensorDoesNotHold) {
  EXPECT_TRUE(llvm::failed(evaluate(R"mlir(
    lm.param @k source "layers.{}.qkv" shape [4, 2] formats [f32] layers 2 {row_begin = 1 : i64}
    func.func @f(%layer: index) {
      %w = lm.load_param @k[%layer] : !lm.weight<[4, 2], f32>
      return
    })mlir",
                                    0)));
  EXPECT_THAT(message, HasSubstr("has shape [4, 2], which does not hold"));
}

TEST_F(WeightEvaluatorTest, DoesNotRoundToFormatsThatOnlyFilesHave) {
  test::SafetensorsWriter()
      .floats("w", {1, 32}, std::vector<float>(32, 1.0f))
      .write(directory.file("model.safetensors"));
  checkpoint = *openCheckpoint(directory.path());
  EXPECT_TRUE(llvm::failed(evaluate(R"mlir(
    lm.param @w source "w" shape [1, 32] formats [f32]
    func.func @f() {
      %w = lm.load_param @w : !lm.weight<[1, 32], f32>
      %q = lm.convert_weight %w : !lm.weight<[1, 32], f32> -> !lm.weight<[1, 32], q8_0>
      return
    })mlir",
                                    -1)));
  EXPECT_THAT(message, HasSubstr("weights are not rounded to q8_0"));
}

} // namespace
} // namespace quire::reference
