// All passes in order on a model of two layers, one that slides and one that
// sees everything, each kind with a rope of its own and a tied head.
// RUN: quire-opt %s --pass-pipeline='builtin.module(fuse-gated-mlp,fuse-qkv,fuse-residual-norm,insert-paged-kv,quantize-weights{to=int8},fuse-quantization,select-kernels,lower-lm-to-rt{max-rows=32 max-logit-rows=4},plan-memory,place-barriers)' > %t
// RUN: FileCheck %s < %t
// RUN: not grep -E "func.func @(step|sliding|global)|= lm\.(linear|embed|attention)|lm.cache_group" %t
// What came out is a valid module.
// RUN: quire-opt %t -o /dev/null

// CHECK: module attributes {quire.explain = [
// CHECK-SAME: fuse-gated-mlp: 2 gated MLPs fused
// CHECK-SAME: place-barriers: @step:
// CHECK-SAME: rt.arena_bytes =

// CHECK: rt.cache_group @kv_sliding bf16 number 0 kv_heads 2 key_dim 16 value_dim 16 page 16 window 8 layers [0]
// CHECK: rt.cache_group @kv_global bf16 number 1 kv_heads 2 key_dim 16 value_dim 16 page 16 window 0 layers [1]
// The bodies' buffers overlay each other; the ropes and @x live through both.
// CHECK: rt.buffer @x f32 rows 32 row_bytes 128 offset [[X:[0-9]+]]

// One launch for the norm with its rounding, one for three products.
// CHECK-LABEL: rt.sequence @sliding {
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.launch "attn_norm" [#rt.part<"rms_norm", {{.*}}quantized = @sliding.attn_norm_q8
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: rt.launch "attn_q{{[^"]*}}" [#rt.part<"linear_int8", {{.*}}weight = @sliding.q.weight}>, #rt.part<"linear_int8", {{.*}}weight = @sliding.k.weight}>, #rt.part<"linear_int8", {{.*}}weight = @sliding.k.weight}>]
// CHECK: #rt.part<"fused_{{[0-9]+}}", {inputs = [@{{.*}}, @step.rope_near]
// CHECK: "kv_append_bf16", {group = 0 : i64
// CHECK: "attention_bf16", {group = 0 : i64
// CHECK: "gated_linear_int8"
// CHECK: "fused_{{[0-9]+}}", {{.*}}outputs = [@x], {{.*}}
// CHECK-NEXT: }
// CHECK-LABEL: rt.sequence @global {
// CHECK: #rt.part<"fused_{{[0-9]+}}", {inputs = [@{{.*}}, @step.rope_far]
// CHECK: "attention_bf16", {group = 1 : i64
// CHECK-LABEL: rt.sequence @step {
// CHECK-NEXT: rt.launch "embedding+rope_near+rope_far" [#rt.part<"embed_int8", {{.*}}weight = @step.embedding.weight}>, #rt.part<"rope_table",
// CHECK-NEXT: rt.loop kinds [@sliding, @global] which [0, 1] indices [0, 1]
// CHECK: weight = @step.embedding.weight}
// CHECK-NEXT: rt.barrier
// CHECK-NEXT: }

lm.param @embedding source "e" shape [64, 32] formats [bf16]
lm.param @norm source "n.{}" shape [32] formats [f32] layers 2
lm.param @q source "q.{}" shape [64, 32] formats [bf16] layers 2
lm.param @k source "k.{}" shape [32, 32] formats [bf16] layers 2
lm.param @o source "o.{}" shape [32, 64] formats [bf16] layers 2
lm.param @gate source "g.{}" shape [96, 32] formats [bf16] layers 2
lm.param @down source "d.{}" shape [32, 96] formats [bf16] layers 2
func.func private @sliding(%x: tensor<?x32xf32>, %batch: !lm.batch, %near: tensor<?x16xf32>, %far: tensor<?x16xf32>, %layer: index) -> tensor<?x32xf32> {
  %n = lm.load_param @norm[%layer] : !lm.weight<[32], f32>
  %h = lm.rms_norm %x, %n {epsilon = 1.0e-5 : f64} : tensor<?x32xf32>, !lm.weight<[32], f32> loc("attn_norm")
  %wq = lm.load_param @q[%layer] : !lm.weight<[64, 32], bf16>
  %q = lm.linear %h, %wq : tensor<?x32xf32>, !lm.weight<[64, 32], bf16> -> tensor<?x64xf32> loc("attn_q")
  %qr = lm.rope %q, %near {head_dim = 16 : i64} : tensor<?x64xf32>, tensor<?x16xf32>
  %wk = lm.load_param @k[%layer] : !lm.weight<[32, 32], bf16>
  %k = lm.linear %h, %wk : tensor<?x32xf32>, !lm.weight<[32, 32], bf16> -> tensor<?x32xf32> loc("attn_k")
  %kr = lm.rope %k, %near {head_dim = 16 : i64} : tensor<?x32xf32>, tensor<?x16xf32>
  %v = lm.linear %h, %wk : tensor<?x32xf32>, !lm.weight<[32, 32], bf16> -> tensor<?x32xf32> loc("attn_v")
  %a = lm.attention %qr, %kr, %v, %batch {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.25 : f64, window = 8 : i64} : tensor<?x64xf32>, tensor<?x32xf32>, tensor<?x32xf32> -> tensor<?x64xf32>
  %wo = lm.load_param @o[%layer] : !lm.weight<[32, 64], bf16>
  %o = lm.linear %a, %wo : tensor<?x64xf32>, !lm.weight<[32, 64], bf16> -> tensor<?x32xf32>
  %s = lm.add %x, %o : tensor<?x32xf32>
  %m = lm.rms_norm %s, %n {epsilon = 1.0e-5 : f64} : tensor<?x32xf32>, !lm.weight<[32], f32>
  %wg = lm.load_param @gate[%layer] : !lm.weight<[96, 32], bf16>
  %g = lm.linear %m, %wg : tensor<?x32xf32>, !lm.weight<[96, 32], bf16> -> tensor<?x96xf32>
  %u = lm.linear %m, %wg : tensor<?x32xf32>, !lm.weight<[96, 32], bf16> -> tensor<?x96xf32>
  %f = lm.nonlinearity silu %g : tensor<?x96xf32>
  %p = lm.mul %f, %u : tensor<?x96xf32>
  %wd = lm.load_param @down[%layer] : !lm.weight<[32, 96], bf16>
  %d = lm.linear %p, %wd : tensor<?x96xf32>, !lm.weight<[32, 96], bf16> -> tensor<?x32xf32>
  %r = lm.add %s, %d : tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}
func.func private @global(%x: tensor<?x32xf32>, %batch: !lm.batch, %near: tensor<?x16xf32>, %far: tensor<?x16xf32>, %layer: index) -> tensor<?x32xf32> {
  %n = lm.load_param @norm[%layer] : !lm.weight<[32], f32>
  %h = lm.rms_norm %x, %n {epsilon = 1.0e-5 : f64} : tensor<?x32xf32>, !lm.weight<[32], f32> loc("attn_norm")
  %wq = lm.load_param @q[%layer] : !lm.weight<[64, 32], bf16>
  %q = lm.linear %h, %wq : tensor<?x32xf32>, !lm.weight<[64, 32], bf16> -> tensor<?x64xf32> loc("attn_q")
  %qr = lm.rope %q, %far {head_dim = 16 : i64} : tensor<?x64xf32>, tensor<?x16xf32>
  %wk = lm.load_param @k[%layer] : !lm.weight<[32, 32], bf16>
  %k = lm.linear %h, %wk : tensor<?x32xf32>, !lm.weight<[32, 32], bf16> -> tensor<?x32xf32> loc("attn_k")
  %kr = lm.rope %k, %far {head_dim = 16 : i64} : tensor<?x32xf32>, tensor<?x16xf32>
  %v = lm.linear %h, %wk : tensor<?x32xf32>, !lm.weight<[32, 32], bf16> -> tensor<?x32xf32> loc("attn_v")
  %a = lm.attention %qr, %kr, %v, %batch {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.25 : f64} : tensor<?x64xf32>, tensor<?x32xf32>, tensor<?x32xf32> -> tensor<?x64xf32>
  %wo = lm.load_param @o[%layer] : !lm.weight<[32, 64], bf16>
  %o = lm.linear %a, %wo : tensor<?x64xf32>, !lm.weight<[32, 64], bf16> -> tensor<?x32xf32>
  %s = lm.add %x, %o : tensor<?x32xf32>
  %m = lm.rms_norm %s, %n {epsilon = 1.0e-5 : f64} : tensor<?x32xf32>, !lm.weight<[32], f32>
  %wg = lm.load_param @gate[%layer] : !lm.weight<[96, 32], bf16>
  %g = lm.linear %m, %wg : tensor<?x32xf32>, !lm.weight<[96, 32], bf16> -> tensor<?x96xf32>
  %u = lm.linear %m, %wg : tensor<?x32xf32>, !lm.weight<[96, 32], bf16> -> tensor<?x96xf32>
  %f = lm.nonlinearity silu %g : tensor<?x96xf32>
  %p = lm.mul %f, %u : tensor<?x96xf32>
  %wd = lm.load_param @down[%layer] : !lm.weight<[32, 96], bf16>
  %d = lm.linear %p, %wd : tensor<?x96xf32>, !lm.weight<[32, 96], bf16> -> tensor<?x32xf32>
  %r = lm.add %s, %d : tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}
func.func @step(%batch: !lm.batch) -> tensor<?x64xf32> {
  %e = lm.load_param @embedding : !lm.weight<[64, 32], bf16>
  %x = lm.embed %batch, %e {scale = 1.0 : f64} : !lm.weight<[64, 32], bf16> -> tensor<?x32xf32> loc("embedding")
  %near = lm.rope_table %batch {inverse_frequency = array<f32: 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003>} : tensor<?x16xf32> loc("rope_near")
  %far = lm.rope_table %batch {inverse_frequency = array<f32: 1.0, 0.2, 0.04, 0.008, 0.0016, 0.0003, 0.00006, 0.00001>} : tensor<?x16xf32> loc("rope_far")
  %y = lm.layers %x captures(%batch, %near, %far : !lm.batch, tensor<?x16xf32>, tensor<?x16xf32>) kinds [@sliding, @global] which [0, 1] indices [0, 1] : tensor<?x32xf32>
  %l = lm.select_logit_rows %y, %batch : tensor<?x32xf32>
  %h = lm.load_param @embedding : !lm.weight<[64, 32], bf16>
  %o = lm.linear %l, %h : tensor<?x32xf32>, !lm.weight<[64, 32], bf16> -> tensor<?x64xf32>
  return %o : tensor<?x64xf32>
}
