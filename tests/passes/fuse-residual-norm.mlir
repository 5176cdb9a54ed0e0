// fuse-residual-norm: an addition and the norm that reads it become one op.
// RUN: quire-opt %s -fuse-residual-norm -split-input-file | FileCheck %s

// The sum goes on living.
// CHECK-LABEL: func.func @fused
func.func @fused(%x: tensor<?x32xf32>, %d: tensor<?x32xf32>, %w: !lm.weight<[32], f32>) -> tensor<?x32xf32> {
  // CHECK-SAME: %[[X:.*]]: tensor<?x32xf32>, %[[D:.*]]: tensor<?x32xf32>, %[[W:.*]]: !lm.weight
  // CHECK-NEXT: %[[S:.*]], %[[N:.*]] = lm.add_rms_norm %[[X]], %[[D]], %[[W]] {epsilon = 1.000000e-05 : f64}
  // CHECK-NEXT: lm.add %[[S]], %[[N]]
  %s = lm.add %x, %d : tensor<?x32xf32>
  %n = lm.rms_norm %s, %w {epsilon = 1.0e-5 : f64} : tensor<?x32xf32>, !lm.weight<[32], f32>
  %r = lm.add %s, %n : tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}

// -----

// A sum that is read before its norm stays: the fused op would come too late.
// CHECK-LABEL: func.func @read_between
func.func @read_between(%x: tensor<?x32xf32>, %d: tensor<?x32xf32>, %w: !lm.weight<[32], f32>) -> tensor<?x32xf32> {
  // CHECK-NOT: lm.add_rms_norm
  %s = lm.add %x, %d : tensor<?x32xf32>
  %t = lm.scale %s {by = 2.0 : f64} : tensor<?x32xf32>
  %n = lm.rms_norm %s, %w {epsilon = 1.0e-5 : f64} : tensor<?x32xf32>, !lm.weight<[32], f32>
  %r = lm.add %t, %n : tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}

// -----

// Of two norms of one sum the first fuses, the other reads the sum.
// CHECK-LABEL: func.func @two_norms
func.func @two_norms(%x: tensor<?x32xf32>, %d: tensor<?x32xf32>, %w: !lm.weight<[32], f32>, %v: !lm.weight<[32], f32>) -> tensor<?x32xf32> {
  // CHECK: %[[S:.*]], %[[N:.*]] = lm.add_rms_norm %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05
  // CHECK-NEXT: %[[M:.*]] = lm.rms_norm %[[S]], %{{.*}} {epsilon = 9.9999999999999995E-7
  %s = lm.add %x, %d : tensor<?x32xf32>
  %n = lm.rms_norm %s, %w {epsilon = 1.0e-5 : f64} : tensor<?x32xf32>, !lm.weight<[32], f32>
  %m = lm.rms_norm %s, %v {epsilon = 1.0e-6 : f64} : tensor<?x32xf32>, !lm.weight<[32], f32>
  %r = lm.add %m, %n : tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}

// -----

// Norms of single heads stay.
// CHECK-LABEL: func.func @heads
func.func @heads(%x: tensor<?x32xf32>, %d: tensor<?x32xf32>, %w: !lm.weight<[8], f32>) -> tensor<?x32xf32> {
  // CHECK-NOT: lm.add_rms_norm
  %s = lm.add %x, %d : tensor<?x32xf32>
  %n = lm.rms_norm %s, %w {epsilon = 1.0e-5 : f64} : tensor<?x32xf32>, !lm.weight<[8], f32>
  return %n : tensor<?x32xf32>
}
