// Launches of latent attention's kernels give the bits of the `lm` ops that
// they come from.

#include "tests/ir/reference/LatentModule.h"
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
using testing::latentModel;

/// The module of LatentModule.h in which each row takes its own form, lowered
/// by hand.
constexpr const char kLowered[] = R"mlir(
module attributes {lm.materialised_block = 4 : i64} {
lm.param @embed source "embed" shape [32, 16] formats [f32]
lm.param @q source "q" shape [48, 16] formats [f32]
lm.param @kva source "kva" shape [12, 16] formats [f32]
lm.param @kvb source "kvb" shape [56, 8] formats [f32]
lm.param @o source "o" shape [16, 24] formats [f32]
rt.cache_group @global bf16 number 0 kv_heads 1 key_dim 8 value_dim 4 page 4 window 0 layers [0]
rt.weight @table f32 [32, 16] bytes 4096 layers [] {
^bb0(%layer: index):
  %w = lm.load_param @embed : !lm.weight<[32, 16], f32>
  rt.pack %w : !lm.weight<[32, 16], f32>
}
rt.weight @content f32 [32, 16] bytes 4096 layers [] {
^bb0(%layer: index):
  %w = lm.load_param @q : !lm.weight<[48, 16], f32>
  %r = lm.take_rows %w {heads = 4 : i64, begin = 0 : i64} : !lm.weight<[48, 16], f32> -> !lm.weight<[32, 16], f32>
  rt.pack %r : !lm.weight<[32, 16], f32>
}
rt.weight @query_rotary f32 [16, 16] bytes 4096 layers [] {
^bb0(%layer: index):
  %w = lm.load_param @q : !lm.weight<[48, 16], f32>
  %r = lm.take_rows %w {heads = 4 : i64, begin = 8 : i64} : !lm.weight<[48, 16], f32> -> !lm.weight<[16, 16], f32>
  %u = lm.unpermute_rotary %r {head_dim = 4 : i64} : !lm.weight<[16, 16], f32>
  rt.pack %u : !lm.weight<[16, 16], f32>
}
rt.weight @latent f32 [8, 16] bytes 4096 layers [] {
^bb0(%layer: index):
  %w = lm.load_param @kva : !lm.weight<[12, 16], f32>
  %r = lm.take_rows %w {heads = 1 : i64, begin = 0 : i64} : !lm.weight<[12, 16], f32> -> !lm.weight<[8, 16], f32>
  rt.pack %r : !lm.weight<[8, 16], f32>
}
rt.weight @key_rotary f32 [4, 16] bytes 4096 layers [] {
^bb0(%layer: index):
  %w = lm.load_param @kva : !lm.weight<[12, 16], f32>
  %r = lm.take_rows %w {heads = 1 : i64, begin = 8 : i64} : !lm.weight<[12, 16], f32> -> !lm.weight<[4, 16], f32>
  %u = lm.unpermute_rotary %r {head_dim = 4 : i64} : !lm.weight<[4, 16], f32>
  rt.pack %u : !lm.weight<[4, 16], f32>
}
rt.weight @key_up f32 [4, 8, 8] bytes 8192 layers [] {
^bb0(%layer: index):
  %w = lm.load_param @kvb : !lm.weight<[56, 8], f32>
  %r = lm.take_rows %w {heads = 4 : i64, begin = 0 : i64} : !lm.weight<[56, 8], f32> -> !lm.weight<[4, 8, 8], f32>
  rt.pack %r : !lm.weight<[4, 8, 8], f32>
}
rt.weight @value_up f32 [4, 6, 8] bytes 8192 layers [] {
^bb0(%layer: index):
  %w = lm.load_param @kvb : !lm.weight<[56, 8], f32>
  %r = lm.take_rows %w {heads = 4 : i64, begin = 8 : i64} : !lm.weight<[56, 8], f32> -> !lm.weight<[4, 6, 8], f32>
  rt.pack %r : !lm.weight<[4, 6, 8], f32>
}
rt.weight @out f32 [16, 24] bytes 6144 layers [] {
^bb0(%layer: index):
  %w = lm.load_param @o : !lm.weight<[16, 24], f32>
  rt.pack %w : !lm.weight<[16, 24], f32>
}
func.func @fused_0(%q: tensor<?x16xf32>, %k: tensor<?x4xf32>, %t: tensor<?x4xf32>) -> (tensor<?x16xf32>, tensor<?x4xf32>) {
  %0 = lm.rope %q, %t {head_dim = 4 : i64} : tensor<?x16xf32>, tensor<?x4xf32>
  %1 = lm.rope %k, %t {head_dim = 4 : i64} : tensor<?x4xf32>, tensor<?x4xf32>
  return %0, %1 : tensor<?x16xf32>, tensor<?x4xf32>
}
func.func @fused_1(%x: tensor<?x16xf32>, %d: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %0 = lm.add %x, %d : tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}
rt.sequence @layer {
  rt.launch "down" [
    #rt.part<"linear_f32", {activation = @x, weight = @content, bias = unit, out = @qc, inputs = 16 : i64, outputs = 32 : i64, outStride = 32 : i64, rowSet = 0 : i64}>,
    #rt.part<"linear_f32", {activation = @x, weight = @query_rotary, bias = unit, out = @qr, inputs = 16 : i64, outputs = 16 : i64, outStride = 16 : i64, rowSet = 0 : i64}>,
    #rt.part<"linear_f32", {activation = @x, weight = @latent, bias = unit, out = @c, inputs = 16 : i64, outputs = 8 : i64, outStride = 8 : i64, rowSet = 0 : i64}>,
    #rt.part<"linear_f32", {activation = @x, weight = @key_rotary, bias = unit, out = @kr, inputs = 16 : i64, outputs = 4 : i64, outStride = 4 : i64, rowSet = 0 : i64}>]
  rt.launch "rope" [#rt.part<"fused_0", {inputs = [@qr, @kr, @angles], outputs = [@qt, @kt], rowSet = 0 : i64, tileRows = 1 : i64}>]
  rt.launch "kv" [#rt.part<"kv_append_bf16", {key = @c, value = @kt, keyStride = 8 : i64, valueStride = 4 : i64, group = 0 : i64, kvHeads = 1 : i64, keyDim = 8 : i64, valueDim = 4 : i64, pageSize = 4 : i64, groupLayers = 1 : i64}>]
  rt.launch "forms" [
    #rt.part<"select_form", {x = @qc, out = @mc, features = 32 : i64, rowSet = 3 : i64}>,
    #rt.part<"select_form", {x = @qt, out = @mt, features = 16 : i64, rowSet = 3 : i64}>,
    #rt.part<"select_form", {x = @qc, out = @lc, features = 32 : i64, rowSet = 2 : i64}>,
    #rt.part<"select_form", {x = @qt, out = @lt, features = 16 : i64, rowSet = 2 : i64}>]
  rt.barrier
  rt.launch "prefill" [#rt.part<"materialised_attention_f32", {queryContent = @mc, queryRotary = @mt, weightKey = @key_up, weightValue = @value_up, out = @am, group = 0 : i64, heads = 4 : i64, contentDim = 8 : i64, latentDim = 8 : i64, rotaryDim = 4 : i64, valueDim = 6 : i64, pageSize = 4 : i64, groupLayers = 1 : i64, cacheFormat = 2 : i64, valueFormat = 0 : i64, scale = 0.3 : f64, rowSet = 3 : i64}>]
  rt.launch "absorb" [#rt.part<"head_linear_t_f32", {x = @lc, weight = @key_up, out = @ql, heads = 4 : i64, inputs = 8 : i64, outputs = 8 : i64, rowSet = 2 : i64}>]
  rt.launch "decode" [#rt.part<"latent_attention_bf16", {queryLatent = @ql, queryRotary = @lt, out = @all, group = 0 : i64, heads = 4 : i64, latentDim = 8 : i64, rotaryDim = 4 : i64, pageSize = 4 : i64, groupLayers = 1 : i64, scale = 0.3 : f64, rowSet = 2 : i64}>]
  rt.launch "raise" [#rt.part<"head_linear_f32", {x = @all, weight = @value_up, out = @al, heads = 4 : i64, inputs = 8 : i64, outputs = 6 : i64, rowSet = 2 : i64}>]
  rt.launch "merge" [#rt.part<"merge_forms", {materialised = @am, latent = @al, out = @a, features = 24 : i64}>]
  rt.launch "o" [#rt.part<"linear_f32", {activation = @a, weight = @out, bias = unit, out = @d, inputs = 24 : i64, outputs = 16 : i64, outStride = 16 : i64, rowSet = 0 : i64}>]
  rt.launch "sum" [#rt.part<"fused_1", {inputs = [@x, @d], outputs = [@x], rowSet = 0 : i64, tileRows = 1 : i64}>]
}
rt.sequence @step {
  rt.launch "embed" [#rt.part<"embed_f32", {weight = @table, out = @x, features = 16 : i64, vocabulary = 32 : i64, scale = 1.0 : f64}>]
  rt.launch "angles" [#rt.part<"rope_table", {inverseFrequency = array<f32: 1.0, 0.1>, out = @angles, half = 2 : i64, amplitude = 1.0 : f64, dynamicContext = 0 : i64, dynamicBase = 0.0 : f64, dynamicFactor = 0.0 : f64}>]
  rt.loop kinds [@layer] which [0] indices [0]
  rt.launch "last" [#rt.part<"gather_logit_rows", {x = @x, out = @chosen, features = 16 : i64}>]
  rt.launch "head" [#rt.part<"linear_f32", {activation = @chosen, weight = @table, bias = unit, out = @logits, inputs = 16 : i64, outputs = 32 : i64, outStride = 32 : i64, rowSet = 1 : i64}>]
}
}
)mlir";

TEST(RtLatent, GivesTheBitsOfTheLmModule) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::func::FuncDialect, lm::LmDialect, rt::RtDialect>();
  auto lm = mlir::parseSourceString<mlir::ModuleOp>(
      latentModel({"both", "bf16", 4}), &context);
  auto rt = mlir::parseSourceString<mlir::ModuleOp>(kLowered, &context);
  ASSERT_TRUE(lm && rt);
  DrawnParams params;
  Interpreter before(*lm, params);
  Interpreter after(*rt, params);
  std::vector<int32_t> tokens = {3, 14, 15, 9, 26, 5, 3, 8, 9, 7, 9, 31};
  // A prompt of eleven in two chunks, of which eight are materialised, then a
  // decoded token: steps with both forms, and with one.
  for (auto [first, count] :
       {std::pair{0, 6}, std::pair{6, 5}, std::pair{11, 1}}) {
    StepInput input =
        chainStep({tokens.data() + first, static_cast<size_t>(count)}, first,
                  before.pageSizes(), 11);
    auto expected = before.step(input);
    auto logits = after.step(input);
    ASSERT_TRUE(llvm::succeeded(expected) && llvm::succeeded(logits));
    EXPECT_EQ(logits->rows, count);
    EXPECT_EQ(logits->values, expected->values);
  }
}

} // namespace
} // namespace quire::reference
