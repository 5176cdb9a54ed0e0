// Three row-wise ops become one loop nest that writes into the result.
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
