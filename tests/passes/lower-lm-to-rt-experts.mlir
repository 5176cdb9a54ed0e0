// lower-lm-to-rt: pairs have buffers of `top` rows a row, and row-wise kernels
// are told so (64 + top); a stack is one slot of all its matrices.
// RUN: quire-opt %s -lower-lm-to-rt="max-rows=16 max-logit-rows=4" | FileCheck %s
// RUN: quire-opt %s -lower-lm-to-rt="max-rows=16 max-logit-rows=4" | FileCheck %s --check-prefix=BUFFERS

// The table of pairs: 16 + 2 * 8 + 1 + 8 + 2 * 16 * 2 numbers.
// BUFFERS-DAG: rt.buffer @step.routes f32 rows 16 row_bytes 16
// BUFFERS-DAG: rt.buffer @step.pairs f32 rows 16 row_bytes 27
// BUFFERS-DAG: rt.buffer @step.given f32 rows 32 row_bytes 256
// BUFFERS-DAG: rt.buffer @step.up f32 rows 32 row_bytes 128
// BUFFERS-DAG: rt.buffer @step.sum f32 rows 16 row_bytes 128
// BUFFERS-DAG: rt.weight @step.up.weight bf16 [8, 32, 64] bytes 65536 layers []
// CHECK: rt.sequence @step {
// CHECK: #rt.part<"route", {bias, experts = 8 : i64, gate = 1 : i64, groupScore = 1 : i64, groups = 4 : i64, normalise = 1 : i64, routes = @step.routes, scale = 2.500000e+00 : f64, scores = {{.*}}, top = 2 : i64, topGroups = 2 : i64}>
// CHECK: #rt.part<"group_routes", {experts = 8 : i64, pairs = @step.pairs, routes = @step.routes, top = 2 : i64}>
// CHECK: #rt.part<"dispatch", {{{.*}}features = 64 : i64, group = 0 : i64, out = @step.given, pairs = @step.pairs
// CHECK: #rt.part<"expert_linear_bf16", {activation = @step.given, experts = 8 : i64, inputs = 64 : i64, out = @step.up, outputs = 32 : i64, pairs = @step.pairs, top = 2 : i64, weight = @step.up.weight}>
// CHECK: "fused_0", {inputs = [@step.up], {{.*}}rowSet = 66 : i64
// CHECK: #rt.part<"combine", {{{.*}}out = @step.sum, {{.*}}routes = @step.routes
// CHECK: "fused_1", {inputs = [@step.sum], {{.*}}rowSet = 0 : i64
lm.param @embedding source "e" shape [32, 64] formats [f32]
lm.param @router source "r" shape [8, 64] formats [f32]
lm.param @up source "u" shape [8, 32, 64] formats [bf16]
func.func @step(%batch: !lm.batch) -> tensor<?x32xf32> {
  %e = lm.load_param @embedding : !lm.weight<[32, 64], f32>
  %x = lm.embed %batch, %e {scale = 1.0 : f64} : !lm.weight<[32, 64], f32> -> tensor<?x64xf32>
  %w = lm.load_param @router : !lm.weight<[8, 64], f32>
  %u = lm.load_param @up : !lm.weight<[8, 32, 64], bf16>
  %s = lm.linear %x, %w : tensor<?x64xf32>, !lm.weight<[8, 64], f32> -> tensor<?x8xf32>
  %r = lm.route sigmoid %s by top2 {groups = 4 : i64, top_groups = 2 : i64, normalise, scale = 2.5 : f64} : tensor<?x8xf32> -> !lm.routes<8, 2> loc("routes")
  %g = lm.group_routes %r : !lm.routes<8, 2> -> !lm.groups<8, 2> loc("pairs")
  %p = lm.dispatch %x, %g : tensor<?x64xf32>, !lm.groups<8, 2> loc("given")
  %h = lm.expert_linear %p, %g, %u : tensor<?x64xf32>, !lm.groups<8, 2>, !lm.weight<[8, 32, 64], bf16> -> tensor<?x32xf32> loc("up")
  %a = lm.nonlinearity silu %h : tensor<?x32xf32>
  %c = lm.combine %a, %r, %g : tensor<?x32xf32>, !lm.routes<8, 2>, !lm.groups<8, 2> loc("sum")
  %y = lm.scale %c {by = 2.0 : f64} : tensor<?x32xf32>
  %l = lm.select_logit_rows %y, %batch : tensor<?x32xf32>
  return %l : tensor<?x32xf32>
}
