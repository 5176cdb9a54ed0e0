// fuse-quantization: one rounding of a product's input, shared by its readers.
// RUN: quire-opt %s -fuse-quantization -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @shared
func.func @shared(%x: tensor<?x256xf32>, %a: !lm.weight<[32, 256], q8_0>, %b: !lm.weight<[32, 256], q4_0>, %c: !lm.weight<[32, 256], q4_k>) -> (tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) {
  // CHECK-COUNT-1: lm.quantize_activation %{{.*}} -> !lm.activation<256, int8_by_32>
  // CHECK-NOT: int8_by_256>{{$}}
  // CHECK: lm.linear
  %y = lm.linear %x, %a : tensor<?x256xf32>, !lm.weight<[32, 256], q8_0> -> tensor<?x32xf32>
  %z = lm.linear %x, %b : tensor<?x256xf32>, !lm.weight<[32, 256], q4_0> -> tensor<?x32xf32>
  %k = lm.linear %x, %c : tensor<?x256xf32>, !lm.weight<[32, 256], q4_k> -> tensor<?x32xf32>
  return %y, %z, %k : tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>
}

// -----

// Products with plain weights read plain rows.
// CHECK-LABEL: func.func @plain
func.func @plain(%x: tensor<?x32xf32>, %w: !lm.weight<[32, 32], bf16>) -> tensor<?x32xf32> {
  // CHECK-NOT: lm.quantize_activation
  %y = lm.linear %x, %w : tensor<?x32xf32>, !lm.weight<[32, 32], bf16> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

// Segments that want different inputs part; the bias follows its segment.
// CHECK-LABEL: func.func @mixed
func.func @mixed(%x: tensor<?x32xf32>, %a: !lm.weight<[32, 32], q8_0>, %b: !lm.weight<[16, 32], bf16>, %c: !lm.weight<[16], f32>) -> tensor<?x16xf32> {
  // CHECK-SAME: %[[X:.*]]: tensor<?x32xf32>, %[[A:.*]]: !lm.weight<[32, 32], q8_0>, %[[B:.*]]: !lm.weight<[16, 32], bf16>, %[[C:.*]]: !lm.weight<[16], f32>
  // CHECK: %[[R:.*]] = lm.quantize_activation %[[X]]
  // CHECK-NEXT: lm.linear %[[R]], %[[A]] :
  // CHECK-NEXT: lm.linear %[[X]], %[[B]] bias %[[C]]
  %y, %z = lm.fused_linear %x, (%a, %b) biases (%c) {has_bias = array<i1: false, true>} : tensor<?x32xf32>, (!lm.weight<[32, 32], q8_0>, !lm.weight<[16, 32], bf16>), (!lm.weight<[16], f32>) -> (tensor<?x32xf32>, tensor<?x16xf32>)
  return %z : tensor<?x16xf32>
}

// -----

// Rows are rounded before they are dispatched, once for all of a row's pairs;
// the router reads them as they are.
// CHECK-LABEL: func.func @experts
func.func @experts(%x: tensor<?x64xf32>, %g: !lm.groups<8, 2>, %s: !lm.weight<[8, 64], f32>, %u: !lm.weight<[8, 32, 64], q8_0>, %d: !lm.weight<[8, 64, 32], q4_0>) -> (tensor<?x8xf32>, tensor<?x64xf32>) {
  // CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x64xf32>, %[[G:.*]]: !lm.groups<8, 2>, %[[S:.*]]: !lm.weight<[8, 64], f32>
  // CHECK: %[[A:.*]] = lm.quantize_activation %[[X]]
  // CHECK-NEXT: lm.linear %[[X]], %[[S]]
  // CHECK-NEXT: %[[P:.*]] = lm.dispatch %[[A]], %[[G]] : !lm.activation<64, int8_by_32>
  // CHECK-NOT: lm.dispatch
  // CHECK: %[[H:.*]] = lm.expert_gated_linear silu %[[P]], %[[G]]
  // CHECK-NEXT: %[[R:.*]] = lm.quantize_activation %[[H]]
  // CHECK-NEXT: lm.expert_linear %[[R]], %[[G]]
  %scores = lm.linear %x, %s : tensor<?x64xf32>, !lm.weight<[8, 64], f32> -> tensor<?x8xf32>
  %p = lm.dispatch %x, %g : tensor<?x64xf32>, !lm.groups<8, 2>
  %h = lm.expert_gated_linear silu %p, %g, %u, %u : tensor<?x64xf32>, !lm.groups<8, 2>, !lm.weight<[8, 32, 64], q8_0>, !lm.weight<[8, 32, 64], q8_0> -> tensor<?x32xf32>
  %y = lm.expert_linear %h, %g, %d : tensor<?x32xf32>, !lm.groups<8, 2>, !lm.weight<[8, 64, 32], q4_0> -> tensor<?x64xf32>
  return %scores, %y : tensor<?x8xf32>, tensor<?x64xf32>
}

// -----

// One kernel reads gate and up.
func.func @gated(%x: tensor<?x32xf32>, %g: !lm.weight<[64, 32], q4_0>, %u: !lm.weight<[64, 32], f32>) -> tensor<?x64xf32> {
  // expected-error @+1 {{has weights of two number formats}}
  %y = lm.gated_linear silu %x, %g, %u : tensor<?x32xf32>, !lm.weight<[64, 32], q4_0>, !lm.weight<[64, 32], f32> -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
