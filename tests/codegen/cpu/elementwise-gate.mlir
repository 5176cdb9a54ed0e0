// The sigmoid of a row's one gate value is computed once a row and read for
// every feature.
// RUN: quire-emit %s --loops | FileCheck %s

// CHECK-LABEL: func.func @fused_0(
// CHECK-SAME: %[[X:.*]]: memref<?x96xf32>, %[[G:.*]]: memref<?x1xf32>, %[[OUT:.*]]: memref<?x96xf32>)
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: %[[GATE:.*]] = memref.load %[[G]][%[[ROW]], %
// CHECK: %[[SHARE:.*]] = func.call @quire_sigmoid(%[[GATE]])
// CHECK: arith.mulf %{{.*}}, %{{.*}}
// CHECK: memref.store %{{.*}}, %[[OUT]]
func.func @fused_0(%x: tensor<?x96xf32>, %g: tensor<?x1xf32>) -> tensor<?x96xf32> {
  %0 = lm.sigmoid_gate %x, %g : tensor<?x96xf32>, tensor<?x1xf32>
  return %0 : tensor<?x96xf32>
}
