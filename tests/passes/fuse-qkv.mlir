// fuse-qkv: products of one input become segments of one launch.
// RUN: quire-opt %s -fuse-qkv -split-input-file | FileCheck %s

lm.param @q source "q.{}" shape [32, 32] formats [q4_0] layers 1
lm.param @k source "k.{}" shape [16, 32] formats [q8_0] layers 1
lm.param @k_bias source "kb.{}" shape [16] formats [f32] layers 1

// Weights defined behind the first product move up, expression and all; each
// segment keeps its format and its bias.
// CHECK-LABEL: func.func @hoisted
func.func @hoisted(%x: tensor<?x32xf32>, %layer: index) -> tensor<?x16xf32> {
  // CHECK: %[[Q:.*]] = lm.load_param @q
  // CHECK-NEXT: %[[K0:.*]] = lm.load_param @k[
  // CHECK-NEXT: %[[K:.*]] = lm.unpermute_rotary %[[K0]]
  // CHECK-NEXT: %[[B:.*]] = lm.load_param @k_bias
  // CHECK-NEXT: %[[Y:.*]]:2 = lm.fused_linear %{{.*}}, (%[[Q]], %[[K]]) biases(%[[B]]) {has_bias = array<i1: false, true>}
  // CHECK-NOT: lm.linear
  // CHECK: return %[[Y]]#1
  %q = lm.load_param @q[%layer] : !lm.weight<[32, 32], q4_0>
  %a = lm.linear %x, %q : tensor<?x32xf32>, !lm.weight<[32, 32], q4_0> -> tensor<?x32xf32>
  %s = lm.scale %a {by = 2.0 : f64} : tensor<?x32xf32>
  %k = lm.load_param @k[%layer] : !lm.weight<[16, 32], q8_0>
  %u = lm.unpermute_rotary %k {head_dim = 8 : i64} : !lm.weight<[16, 32], q8_0>
  %bias = lm.load_param @k_bias[%layer] : !lm.weight<[16], f32>
  %b = lm.linear %x, %u bias %bias : tensor<?x32xf32>, !lm.weight<[16, 32], q8_0>, !lm.weight<[16], f32> -> tensor<?x16xf32>
  return %b : tensor<?x16xf32>
}

// -----

// Products of different inputs stay.
// CHECK-LABEL: func.func @other_input
func.func @other_input(%x: tensor<?x32xf32>, %z: tensor<?x32xf32>, %w: !lm.weight<[16, 32], f32>) -> tensor<?x16xf32> {
  // CHECK-NOT: lm.fused_linear
  %a = lm.linear %x, %w : tensor<?x32xf32>, !lm.weight<[16, 32], f32> -> tensor<?x16xf32>
  %b = lm.linear %z, %w : tensor<?x32xf32>, !lm.weight<[16, 32], f32> -> tensor<?x16xf32>
  %r = lm.add %a, %b : tensor<?x16xf32>
  return %r : tensor<?x16xf32>
}
