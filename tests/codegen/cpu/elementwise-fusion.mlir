// Row-wise ops become one loop nest that writes into the result: three of them
// that compute, and those that move channels of heads.
// RUN: quire-emit %s --loops | FileCheck %s

// CHECK-LABEL: func.func @fused_0(
// CHECK-SAME: %[[A:.*]]: memref<?x96xf32>, %[[B:.*]]: memref<?x96xf32>, %[[OUT:.*]]: memref<?x96xf32>)
// CHECK-NOT: memref.alloc
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: memref.load %[[A]]
// CHECK: memref.load %[[B]]
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: call @quire_silu
// CHECK: memref.store %{{.*}}, %[[OUT]]
// CHECK-NOT: scf.for
// CHECK: return
func.func @fused_0(%a: tensor<?x96xf32>, %b: tensor<?x96xf32>) -> tensor<?x96xf32> {
  %0 = lm.scale %b {by = 0.5 : f64} : tensor<?x96xf32>
  %1 = lm.add %a, %0 : tensor<?x96xf32>
  %2 = lm.nonlinearity silu %1 : tensor<?x96xf32>
  return %2 : tensor<?x96xf32>
}

// A head's channels are cut out by a loop over the result.
// CHECK-LABEL: func.func @fused_1(
// CHECK-SAME: %[[Q:.*]]: memref<?x96xf32>, %[[OUT:.*]]: memref<?x32xf32>)
// CHECK-NOT: memref.alloc
// CHECK: scf.for
// CHECK: memref.load
// CHECK: memref.store
// CHECK: return
func.func @fused_1(%q: tensor<?x96xf32>) -> tensor<?x32xf32> {
  %0 = lm.slice_heads %q {heads = 4 : i64, begin = 16 : i64} : tensor<?x96xf32> -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}

// Content channels of each head are joined with the one rotary head.
// CHECK-LABEL: func.func @fused_2(
// CHECK-NOT: memref.alloc
// CHECK: scf.for
// CHECK: arith.select
// CHECK: memref.store
// CHECK: return
func.func @fused_2(%c: tensor<?x64xf32>, %r: tensor<?x8xf32>) -> tensor<?x96xf32> {
  %0 = lm.concat_heads %c, %r {heads = 4 : i64, shared} : tensor<?x64xf32>, tensor<?x8xf32> -> tensor<?x96xf32>
  return %0 : tensor<?x96xf32>
}
