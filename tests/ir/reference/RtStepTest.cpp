// The interpreter on a lowered module: launches over buffers give the bits of
// the `lm` module they came from.

#include "tests/ir/reference/TwoLayerModule.h"

#include "ir/reference/Interpreter.h"
#include "ir/rt/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace quire::reference {
namespace {

using testing::DrawnParams;
using testing::withCache;

/// TwoLayerModule.h's model with a cache, lowered by hand. FORMAT is the
/// cache's.
constexpr const char kLowered[] = R"mlir(
lm.param @embed source "embed" shape [32, 16] formats [f32]
lm.param @norm source "layers.{}.norm" shape [16] formats [f32] layers 2
lm.param @q source "layers.{}.q" shape [16, 16] formats [f32] layers 2
lm.param @k source "layers.{}.k" shape [8, 16] formats [f32] layers 2
lm.param @v source "layers.{}.v" shape [8, 16] formats [f32] layers 2
lm.param @o source "layers.{}.o" shape [16, 16] formats [f32] layers 2
rt.cache_group @global FORMAT number 0 kv_heads 2 key_dim 4 value_dim 4 page 4 window 0 layers [0, 1]
rt.weight @table f32 [32, 16] bytes 2048 layers [] {
^bb0(%layer: index):
  %w = lm.load_param @embed : !lm.weight<[32, 16], f32>
  rt.pack %w : !lm.weight<[32, 16], f32>
}
rt.weight @dense.norm f32 [16] bytes 64 layers [0, 1] {
^bb0(%layer: index):
  %w = lm.load_param @norm[%layer] : !lm.weight<[16], f32>
  rt.pack %w : !lm.weight<[16], f32>
}
rt.weight @dense.q f32 [16, 16] bytes 1024 layers [0, 1] {
^bb0(%layer: index):
  %w = lm.load_param @q[%layer] : !lm.weight<[16, 16], f32>
  rt.pack %w : !lm.weight<[16, 16], f32>
}
rt.weight @dense.k f32 [8, 16] bytes 512 layers [0, 1] {
^bb0(%layer: index):
  %w = lm.load_param @k[%layer] : !lm.weight<[8, 16], f32>
  rt.pack %w : !lm.weight<[8, 16], f32>
}
rt.weight @dense.v f32 [8, 16] bytes 512 layers [0, 1] {
^bb0(%layer: index):
  %w = lm.load_param @v[%layer] : !lm.weight<[8, 16], f32>
  rt.pack %w : !lm.weight<[8, 16], f32>
}
rt.weight @dense.o f32 [16, 16] bytes 1024 layers [0, 1] {
^bb0(%layer: index):
  %w = lm.load_param @o[%layer] : !lm.weight<[16, 16], f32>
  rt.pack %w : !lm.weight<[16, 16], f32>
}
func.func @fused_0(%q: tensor<?x16xf32>, %k: tensor<?x8xf32>, %t: tensor<?x4xf32>) -> (tensor<?x16xf32>, tensor<?x8xf32>) {
  %0 = lm.rope %q, %t {head_dim = 4 : i64} : tensor<?x16xf32>, tensor<?x4xf32>
  %1 = lm.rope %k, %t {head_dim = 4 : i64} : tensor<?x8xf32>, tensor<?x4xf32>
  return %0, %1 : tensor<?x16xf32>, tensor<?x8xf32>
}
func.func @fused_1(%x: tensor<?x16xf32>, %d: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %0 = lm.add %x, %d : tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}
rt.sequence @dense {
  rt.launch "norm" [#rt.part<"rms_norm", {x = @x, delta = unit, weight = @dense.norm, sum = unit, out = @y, quantized = unit, features = 16 : i64, width = 16 : i64, epsilon = 1.0e-5 : f64, group = 0 : i64, rowSet = 0 : i64}>]
  rt.launch "qkv" [
    #rt.part<"linear_f32", {activation = @y, weight = @dense.q, bias = unit, out = @q_rows, inputs = 16 : i64, outputs = 16 : i64, outStride = 16 : i64, rowSet = 0 : i64}>,
    #rt.part<"linear_f32", {activation = @y, weight = @dense.k, bias = unit, out = @k_rows, inputs = 16 : i64, outputs = 8 : i64, outStride = 8 : i64, rowSet = 0 : i64}>,
    #rt.part<"linear_f32", {activation = @y, weight = @dense.v, bias = unit, out = @v_rows, inputs = 16 : i64, outputs = 8 : i64, outStride = 8 : i64, rowSet = 0 : i64}>]
  rt.launch "rope" [#rt.part<"fused_0", {inputs = [@q_rows, @k_rows, @angles], outputs = [@q_turned, @k_turned], rowSet = 0 : i64, tileRows = 1 : i64}>]
  rt.launch "kv" [#rt.part<"kv_append_FORMAT", {key = @k_turned, value = @v_rows, keyStride = 8 : i64, valueStride = 8 : i64, group = 0 : i64, kvHeads = 2 : i64, keyDim = 4 : i64, valueDim = 4 : i64, pageSize = 4 : i64, groupLayers = 2 : i64}>]
  rt.barrier
  rt.launch "attn" [#rt.part<"attention_FORMAT", {query = @q_turned, out = @a, queryStride = 16 : i64, group = 0 : i64, heads = 4 : i64, kvHeads = 2 : i64, keyDim = 4 : i64, valueDim = 4 : i64, pageSize = 4 : i64, groupLayers = 2 : i64, window = 0 : i64, scale = 0.5 : f64, softcap = 0.0 : f64}>]
  rt.launch "o" [#rt.part<"linear_f32", {activation = @a, weight = @dense.o, bias = unit, out = @d, inputs = 16 : i64, outputs = 16 : i64, outStride = 16 : i64, rowSet = 0 : i64}>]
  rt.launch "sum" [#rt.part<"fused_1", {inputs = [@x, @d], outputs = [@x], rowSet = 0 : i64, tileRows = 1 : i64}>]
}
rt.sequence @step {
  rt.launch "embed" [#rt.part<"embed_f32", {weight = @table, out = @x, features = 16 : i64, vocabulary = 32 : i64, scale = 1.0 : f64}>]
  rt.launch "angles" [#rt.part<"rope_table", {inverseFrequency = array<f32: 1.0, 0.1>, out = @angles, half = 2 : i64, amplitude = 1.0 : f64, dynamicContext = 0 : i64, dynamicBase = 0.0 : f64, dynamicFactor = 0.0 : f64}>]
  rt.loop kinds [@dense] which [0, 0] indices [0, 1]
  rt.launch "last" [#rt.part<"gather_logit_rows", {x = @x, out = @chosen, features = 16 : i64}>]
  rt.launch "head" [#rt.part<"linear_f32", {activation = @chosen, weight = @table, bias = unit, out = @logits, inputs = 16 : i64, outputs = 32 : i64, outStride = 32 : i64, rowSet = 1 : i64}>]
}
)mlir";

class RtStepTest : public ::testing::Test {
protected:
  RtStepTest() {
    context
        .loadDialect<mlir::func::FuncDialect, lm::LmDialect, rt::RtDialect>();
  }

  mlir::ModuleOp parse(const std::string &text) {
    modules.push_back(mlir::parseSourceString<mlir::ModuleOp>(text, &context));
    EXPECT_TRUE(modules.back());
    return *modules.back();
  }

  static std::string lowered(const std::string &format) {
    return absl::StrReplaceAll(kLowered, {{"FORMAT", format}});
  }

  mlir::MLIRContext context;
  DrawnParams params;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

TEST_F(RtStepTest, GivesTheBitsOfTheLmModule) {
  std::vector<int32_t> tokens = {3, 14, 15, 9, 26, 5};
  for (const char *format : {"f32", "bf16"}) {
    Interpreter before(parse(withCache(format, 0)), params);
    Interpreter after(parse(lowered(format)), params);
    EXPECT_EQ(after.pageSizes(), before.pageSizes());
    // A prompt of five, then a decoded token.
    for (auto [first, count] : {std::pair{0, 5}, std::pair{5, 1}}) {
      StepInput input =
          chainStep({tokens.data() + first, static_cast<size_t>(count)}, first,
                    before.pageSizes());
      auto expected = before.step(input);
      auto logits = after.step(input);
      ASSERT_TRUE(llvm::succeeded(expected) && llvm::succeeded(logits));
      EXPECT_EQ(logits->rows, count);
      EXPECT_EQ(logits->values, expected->values);
    }
  }
}

TEST_F(RtStepTest, AMissingArgumentIsAnError) {
  std::string text = lowered("f32");
  Interpreter interpreter(
      parse(absl::StrReplaceAll(text, {{"vocabulary = 32 : i64, ", ""}})),
      params);
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          message = diagnostic.str();
                                          return mlir::success();
                                        });
  int32_t token = 1;
  EXPECT_TRUE(llvm::failed(
      interpreter.step(chainStep({&token, 1}, 0, interpreter.pageSizes()))));
  EXPECT_THAT(message, ::testing::HasSubstr("argument vocabulary is missing"));
}

TEST_F(RtStepTest, ReadingABufferThatNothingWroteIsAnError) {
  std::string text = lowered("f32");
  Interpreter interpreter(
      parse(absl::StrReplaceAll(
          text, {{"inputs = [@x, @d]", "inputs = [@x, @nothing]"}})),
      params);
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          message = diagnostic.str();
                                          return mlir::success();
                                        });
  int32_t token = 1;
  EXPECT_TRUE(llvm::failed(
      interpreter.step(chainStep({&token, 1}, 0, interpreter.pageSizes()))));
  EXPECT_THAT(message, ::testing::HasSubstr(
                           "reads @nothing, which nothing has written"));
}

} // namespace
} // namespace quire::reference
