// Rotary embedding is one loop nest, with what stands before and after it.
// RUN: quire-emit %s --loops | FileCheck %s

// CHECK-LABEL: func.func @fused_0(
// CHECK-NOT: memref.alloc
// CHECK-COUNT-4: scf.for
// CHECK-NOT: scf.for
// CHECK: return
func.func @fused_0(%q: tensor<?x128xf32>, %t: tensor<?x64xf32>) -> tensor<?x128xf32> {
  %0 = lm.scale %q {by = 0.5 : f64} : tensor<?x128xf32>
  %1 = lm.rope %0, %t {head_dim = 64 : i64} : tensor<?x128xf32>, tensor<?x64xf32>
  %2 = lm.scale %1 {by = 3.0 : f64} : tensor<?x128xf32>
  return %2 : tensor<?x128xf32>
}

// Two results: a loop nest each, no buffer in between.
// CHECK-LABEL: func.func @fused_1(
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @fused_1(%q: tensor<?x128xf32>, %k: tensor<?x64xf32>, %t: tensor<?x32xf32>) -> (tensor<?x128xf32>, tensor<?x64xf32>) {
  %0 = lm.rope %q, %t {head_dim = 32 : i64, interleaved} : tensor<?x128xf32>, tensor<?x32xf32>
  %1 = lm.rope %k, %t {head_dim = 64 : i64} : tensor<?x64xf32>, tensor<?x32xf32>
  return %0, %1 : tensor<?x128xf32>, tensor<?x64xf32>
}

// A part of each head turns: blocks that divide the halves of that part and the
// head, whose lanes are read and written next to each other.
// CHECK-LABEL: func.func @fused_2(
// CHECK-SAME: %[[Q:.*]]: memref<?x256xf32>, %[[T:.*]]: memref<?x96xf32>, %[[OUT:.*]]: memref<?x256xf32>)
// CHECK-NOT: memref.alloc
// CHECK: memref.expand_shape %[[OUT]] {{.*}} into memref<?x2x8x16xf32>
// CHECK-COUNT-4: scf.for
// CHECK-NOT: scf.for
// CHECK: return
func.func @fused_2(%q: tensor<?x256xf32>, %t: tensor<?x96xf32>) -> tensor<?x256xf32> {
  %0 = lm.rope %q, %t {head_dim = 128 : i64} : tensor<?x256xf32>, tensor<?x96xf32>
  return %0 : tensor<?x256xf32>
}
