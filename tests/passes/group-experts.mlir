// Experts become sorted pairs; stacks of one format are read by one product,
// others stay two.
// RUN: quire-opt %s --group-experts -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @alike
func.func @alike(%x: tensor<?x64xf32>, %r: !lm.routes<8, 2>) -> tensor<?x64xf32> {
  %g = lm.load_param @gate : !lm.weight<[8, 32, 64], bf16>
  %u = lm.load_param @up : !lm.weight<[8, 32, 64], bf16>
  %d = lm.load_param @down : !lm.weight<[8, 64, 32], f16>
  // CHECK: %[[PAIRS:.*]] = lm.group_routes %[[R:.*]] : !lm.routes<8, 2> -> !lm.groups<8, 2>
  // CHECK: %[[ROWS:.*]] = lm.dispatch %[[X:.*]], %[[PAIRS]]
  // CHECK: %[[INNER:.*]] = lm.expert_gated_linear silu %[[ROWS]], %[[PAIRS]], %{{.*}}, %{{.*}} : {{.*}} -> tensor<?x32xf32>
  // CHECK: %[[DOWN:.*]] = lm.expert_linear %[[INNER]], %[[PAIRS]], %{{.*}} -> tensor<?x64xf32>
  // CHECK: %[[SUM:.*]] = lm.combine %[[DOWN]], %[[R]], %[[PAIRS]]
  %y = lm.experts silu %x, %r, %g, %u, %d : tensor<?x64xf32>, !lm.routes<8, 2>, !lm.weight<[8, 32, 64], bf16>, !lm.weight<[8, 32, 64], bf16>, !lm.weight<[8, 64, 32], f16>
  // CHECK: return %[[SUM]]
  return %y : tensor<?x64xf32>
}
lm.param @gate source "gate" shape [8, 32, 64] formats [bf16]
lm.param @up source "up" shape [8, 32, 64] formats [bf16]
lm.param @down source "down" shape [8, 64, 32] formats [f16]

// -----

// CHECK-LABEL: func.func @mixed
func.func @mixed(%x: tensor<?x64xf32>, %r: !lm.routes<8, 2>) -> tensor<?x64xf32> {
  %g = lm.load_param @gate : !lm.weight<[8, 32, 64], bf16>
  %u = lm.load_param @up : !lm.weight<[8, 32, 64], f16>
  %d = lm.load_param @down : !lm.weight<[8, 64, 32], f16>
  // CHECK: %[[GATE:.*]] = lm.expert_linear %[[ROWS:.*]], %[[PAIRS:.*]], %{{.*}}bf16
  // CHECK: %[[ACTIVE:.*]] = lm.nonlinearity silu %[[GATE]]
  // CHECK: %[[UP:.*]] = lm.expert_linear %[[ROWS]], %[[PAIRS]]
  // CHECK: lm.mul %[[ACTIVE]], %[[UP]]
  %y = lm.experts silu %x, %r, %g, %u, %d : tensor<?x64xf32>, !lm.routes<8, 2>, !lm.weight<[8, 32, 64], bf16>, !lm.weight<[8, 32, 64], f16>, !lm.weight<[8, 64, 32], f16>
  return %y : tensor<?x64xf32>
}
lm.param @gate source "gate" shape [8, 32, 64] formats [bf16]
lm.param @up source "up" shape [8, 32, 64] formats [f16]
lm.param @down source "down" shape [8, 64, 32] formats [f16]
