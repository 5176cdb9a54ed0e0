// fuse-gated-mlp: both products of a gated MLP and their gating become one op.
// RUN: quire-opt %s -fuse-gated-mlp -split-input-file | FileCheck %s

// The gate may stand on either side of the product.
// CHECK-LABEL: func.func @fused
func.func @fused(%x: tensor<?x32xf32>, %g: !lm.weight<[64, 32], q8_0>, %u: !lm.weight<[64, 32], q8_0>) -> tensor<?x64xf32> {
  // CHECK-SAME: %[[X:.*]]: tensor<?x32xf32>, %[[G:.*]]: !lm.weight<[64, 32], q8_0>, %[[U:.*]]: !lm.weight
  // CHECK-NEXT: %[[Y:.*]] = lm.gated_linear gelu_tanh %[[X]], %[[G]], %[[U]]
  // CHECK-NEXT: return %[[Y]]
  %up = lm.linear %x, %u : tensor<?x32xf32>, !lm.weight<[64, 32], q8_0> -> tensor<?x64xf32>
  %gate = lm.linear %x, %g : tensor<?x32xf32>, !lm.weight<[64, 32], q8_0> -> tensor<?x64xf32>
  %act = lm.nonlinearity gelu_tanh %gate : tensor<?x64xf32>
  %m = lm.mul %up, %act : tensor<?x64xf32>
  return %m : tensor<?x64xf32>
}

// -----

// Products of different inputs stay.
// CHECK-LABEL: func.func @other_input
func.func @other_input(%x: tensor<?x32xf32>, %z: tensor<?x32xf32>, %g: !lm.weight<[64, 32], q8_0>, %u: !lm.weight<[64, 32], q8_0>) -> tensor<?x64xf32> {
  // CHECK-NOT: lm.gated_linear
  %up = lm.linear %x, %u : tensor<?x32xf32>, !lm.weight<[64, 32], q8_0> -> tensor<?x64xf32>
  %gate = lm.linear %z, %g : tensor<?x32xf32>, !lm.weight<[64, 32], q8_0> -> tensor<?x64xf32>
  %act = lm.nonlinearity silu %gate : tensor<?x64xf32>
  %m = lm.mul %act, %up : tensor<?x64xf32>
  return %m : tensor<?x64xf32>
}

// -----

// Products of different number formats stay: one kernel reads both weights.
// CHECK-LABEL: func.func @formats
func.func @formats(%x: tensor<?x32xf32>, %g: !lm.weight<[64, 32], q4_0>, %u: !lm.weight<[64, 32], q8_0>) -> tensor<?x64xf32> {
  // CHECK-NOT: lm.gated_linear
  %up = lm.linear %x, %u : tensor<?x32xf32>, !lm.weight<[64, 32], q8_0> -> tensor<?x64xf32>
  %gate = lm.linear %x, %g : tensor<?x32xf32>, !lm.weight<[64, 32], q4_0> -> tensor<?x64xf32>
  %act = lm.nonlinearity silu %gate : tensor<?x64xf32>
  %m = lm.mul %act, %up : tensor<?x64xf32>
  return %m : tensor<?x64xf32>
}

// -----

// A product that someone else reads stays.
// CHECK-LABEL: func.func @read_twice
func.func @read_twice(%x: tensor<?x32xf32>, %g: !lm.weight<[64, 32], q8_0>, %u: !lm.weight<[64, 32], q8_0>) -> tensor<?x64xf32> {
  // CHECK-NOT: lm.gated_linear
  %up = lm.linear %x, %u : tensor<?x32xf32>, !lm.weight<[64, 32], q8_0> -> tensor<?x64xf32>
  %gate = lm.linear %x, %g : tensor<?x32xf32>, !lm.weight<[64, 32], q8_0> -> tensor<?x64xf32>
  %act = lm.nonlinearity silu %gate : tensor<?x64xf32>
  %m = lm.mul %act, %up : tensor<?x64xf32>
  %r = lm.add %m, %up : tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// -----

// A bias stays with its product.
// CHECK-LABEL: func.func @bias
func.func @bias(%x: tensor<?x32xf32>, %g: !lm.weight<[64, 32], q8_0>, %u: !lm.weight<[64, 32], q8_0>, %b: !lm.weight<[64], f32>) -> tensor<?x64xf32> {
  // CHECK-NOT: lm.gated_linear
  %up = lm.linear %x, %u bias %b : tensor<?x32xf32>, !lm.weight<[64, 32], q8_0>, !lm.weight<[64], f32> -> tensor<?x64xf32>
  %gate = lm.linear %x, %g : tensor<?x32xf32>, !lm.weight<[64, 32], q8_0> -> tensor<?x64xf32>
  %act = lm.nonlinearity silu %gate : tensor<?x64xf32>
  %m = lm.mul %act, %up : tensor<?x64xf32>
  return %m : tensor<?x64xf32>
}
