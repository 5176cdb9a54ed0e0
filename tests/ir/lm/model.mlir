// A whole small model parses, verifies and prints as it was written.
// RUN: quire-opt %s | quire-opt | FileCheck %s

// CHECK: lm.param @embed source "model.embed_tokens.weight" shape [64, 32] formats [bf16]
lm.param @embed source "model.embed_tokens.weight" shape [64, 32] formats [bf16]
// CHECK: lm.param @attn_q source "layers.{}.q.weight" shape [32, 32] formats [q4_0, q8_0] layers 2
lm.param @attn_q source "layers.{}.q.weight" shape [32, 32] formats [q4_0, q8_0] layers 2
lm.param @attn_k source "layers.{}.qkv.weight" shape [16, 32] formats [q8_0] layers 2 {row_begin = 32 : i64}
lm.param @attn_v source "layers.{}.v.weight" shape [16, 32] formats [q8_0] layers 2
lm.param @bias_v source "layers.{}.v.bias" shape [16] formats [f32] layers 2
lm.param @norm source "layers.{}.norm.weight" shape [32] formats [f32] layers 2
lm.param @gate source "layers.{}.gate.weight" shape [64, 32] formats [q8_0] layers 2
lm.param @up source "layers.{}.up.weight" shape [64, 32] formats [q8_0] layers 2
// CHECK: lm.param @expert_up source "layers.{}.experts.{expert}.up" shape [4, 64, 32] formats [none, q8_0] layers 2
lm.param @expert_up source "layers.{}.experts.{expert}.up" shape [4, 64, 32] formats [none, q8_0] layers 2

// CHECK: lm.cache_group @global : !lm.kv<heads = 2, key = 8, value = 8, format = bf16, page = 16, window = 0> layers [0, 1]
lm.cache_group @global : !lm.kv<heads = 2, key = 8, value = 8, format = bf16, page = 16, window = 0> layers [0, 1]

// CHECK-LABEL: func.func @dense
func.func @dense(%x: tensor<?x32xf32>, %batch: !lm.batch, %table: tensor<?x8xf32>, %layer: index) -> tensor<?x32xf32> {
  // CHECK: lm.load_param @norm[%{{.*}}] : !lm.weight<[32], f32>
  %norm = lm.load_param @norm[%layer] : !lm.weight<[32], f32>
  %q = lm.load_param @attn_q[%layer] : !lm.weight<[32, 32], q8_0>
  %k = lm.load_param @attn_k[%layer] : !lm.weight<[16, 32], q8_0>
  %v = lm.load_param @attn_v[%layer] : !lm.weight<[16, 32], q8_0>
  %b = lm.load_param @bias_v[%layer] : !lm.weight<[16], f32>
  // CHECK: lm.unpermute_rotary %{{.*}} {head_dim = 8 : i64} : !lm.weight<[32, 32], q8_0>
  %qu = lm.unpermute_rotary %q {head_dim = 8 : i64} : !lm.weight<[32, 32], q8_0>
  // CHECK: lm.convert_weight %{{.*}} : !lm.weight<[16, 32], q8_0> -> !lm.weight<[16, 32], int8>
  %kc = lm.convert_weight %k : !lm.weight<[16, 32], q8_0> -> !lm.weight<[16, 32], int8>
  // CHECK: lm.affine_weight %{{.*}} {offset = 1.000000e+00 : f64, scale = 1.000000e+00 : f64} : !lm.weight<[32], f32> -> !lm.weight<[32], f32>
  %n = lm.affine_weight %norm {scale = 1.0 : f64, offset = 1.0 : f64} : !lm.weight<[32], f32> -> !lm.weight<[32], f32>
  // CHECK: lm.rms_norm %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : tensor<?x32xf32>, !lm.weight<[32], f32>
  %y = lm.rms_norm %x, %n {epsilon = 1.0e-5 : f64} : tensor<?x32xf32>, !lm.weight<[32], f32>
  // CHECK: lm.quantize_activation %{{.*}} : tensor<?x32xf32> -> !lm.activation<32, int8_by_32>
  %a = lm.quantize_activation %y : tensor<?x32xf32> -> !lm.activation<32, int8_by_32>
  // CHECK: lm.fused_linear %{{.*}}, (%{{.*}}, %{{.*}}, %{{.*}}) biases(%{{.*}}) {has_bias = array<i1: false, false, true>}
  %qr, %kr, %vr = lm.fused_linear %a, (%qu, %kc, %v) biases (%b) {has_bias = array<i1: false, false, true>}
    : !lm.activation<32, int8_by_32>, (!lm.weight<[32, 32], q8_0>, !lm.weight<[16, 32], int8>, !lm.weight<[16, 32], q8_0>), (!lm.weight<[16], f32>)
    -> (tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x16xf32>)
  // CHECK: lm.rope %{{.*}}, %{{.*}} {head_dim = 8 : i64} : tensor<?x32xf32>, tensor<?x8xf32>
  %qp = lm.rope %qr, %table {head_dim = 8 : i64} : tensor<?x32xf32>, tensor<?x8xf32>
  // CHECK: lm.rope {{.*}} {head_dim = 8 : i64, interleaved}
  %kp = lm.rope %kr, %table {head_dim = 8 : i64, interleaved} : tensor<?x16xf32>, tensor<?x8xf32>
  // CHECK: lm.cache @global[%{{.*}}] : !lm.kv<
  %c = lm.cache @global[%layer] : !lm.kv<heads = 2, key = 8, value = 8, format = bf16, page = 16, window = 0>
  // CHECK: lm.kv_append
  %c1 = lm.kv_append %c, %kp, %vr, %batch : !lm.kv<heads = 2, key = 8, value = 8, format = bf16, page = 16, window = 0>, tensor<?x16xf32>, tensor<?x16xf32>
  // CHECK: lm.paged_attention {{.*}} {heads = 4 : i64, scale = 1.250000e-01 : f64}
  %o = lm.paged_attention %qp, %c1, %batch {heads = 4 : i64, scale = 0.125 : f64} : tensor<?x32xf32>, !lm.kv<heads = 2, key = 8, value = 8, format = bf16, page = 16, window = 0> -> tensor<?x32xf32>
  // CHECK: lm.attention {{.*}} {heads = 4 : i64, kv_heads = 2 : i64, scale = 1.250000e-01 : f64, softcap = 5.000000e+01 : f64, window = 7 : i64}
  %o2 = lm.attention %qp, %kp, %vr, %batch {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.125 : f64, softcap = 50.0 : f64, window = 7 : i64} : tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x16xf32> -> tensor<?x32xf32>
  // CHECK: lm.add_rms_norm
  %s, %z = lm.add_rms_norm %x, %o, %n {epsilon = 1.0e-5 : f64} : tensor<?x32xf32>, !lm.weight<[32], f32>
  %gate = lm.load_param @gate[%layer] : !lm.weight<[64, 32], q8_0>
  %up = lm.load_param @up[%layer] : !lm.weight<[64, 32], q8_0>
  // CHECK: lm.gated_linear gelu_tanh %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x32xf32>, !lm.weight<[64, 32], q8_0>, !lm.weight<[64, 32], q8_0> -> tensor<?x64xf32>
  %g = lm.gated_linear gelu_tanh %z, %gate, %up : tensor<?x32xf32>, !lm.weight<[64, 32], q8_0>, !lm.weight<[64, 32], q8_0> -> tensor<?x64xf32>
  // CHECK: lm.nonlinearity silu %{{.*}} : tensor<?x32xf32>
  %f = lm.nonlinearity silu %z : tensor<?x32xf32>
  // CHECK: lm.mul
  %m = lm.mul %f, %z : tensor<?x32xf32>
  // CHECK: lm.scale %{{.*}} {by = 2.000000e+00 : f64} : tensor<?x32xf32>
  %h = lm.scale %m {by = 2.0 : f64} : tensor<?x32xf32>
  // CHECK: lm.add
  %r = lm.add %s, %h : tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}

// CHECK-LABEL: func.func @step
func.func @step(%batch: !lm.batch) -> tensor<?x64xf32> {
  %e = lm.load_param @embed : !lm.weight<[64, 32], bf16>
  // CHECK: lm.embed %{{.*}}, %{{.*}} : !lm.weight<[64, 32], bf16> -> tensor<?x32xf32>
  %x = lm.embed %batch, %e {scale = 1.0 : f64} : !lm.weight<[64, 32], bf16> -> tensor<?x32xf32>
  // CHECK: lm.rope_table %{{.*}} {inverse_frequency = array<f32: 1.000000e+00, 1.000000e-01, 0.00999999977, 1.000000e-03>} : tensor<?x8xf32>
  %t = lm.rope_table %batch {inverse_frequency = array<f32: 1.0, 0.1, 0.01, 0.001>} : tensor<?x8xf32>
  // CHECK: lm.layers %{{.*}} captures(%{{.*}}, %{{.*}} : !lm.batch, tensor<?x8xf32>) kinds [@dense] which [0] indices [1] : tensor<?x32xf32>
  %y = lm.layers %x captures(%batch, %t : !lm.batch, tensor<?x8xf32>) kinds [@dense] which [0] indices [1] : tensor<?x32xf32>
  // CHECK: lm.select_logit_rows
  %l = lm.select_logit_rows %y, %batch : tensor<?x32xf32>
  // CHECK: lm.linear %{{.*}}, %{{.*}} : tensor<?x32xf32>, !lm.weight<[64, 32], bf16> -> tensor<?x64xf32>
  %o = lm.linear %l, %e : tensor<?x32xf32>, !lm.weight<[64, 32], bf16> -> tensor<?x64xf32>
  // CHECK: lm.softcap
  %c = lm.softcap %o {cap = 30.0 : f64} : tensor<?x64xf32>
  return %c : tensor<?x64xf32>
}
