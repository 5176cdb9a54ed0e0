// quantize-weights: stacks of experts are quantised; a router's scores and the
// gate of a shared expert stay products of floats, even under `keep`.
// RUN: quire-opt %s -quantize-weights="to=int4" | FileCheck %s
// RUN: quire-opt %s -quantize-weights="to=keep" | FileCheck %s --check-prefix=KEEP

lm.param @router source "r" shape [8, 64] formats [q8_0]
lm.param @gate source "g" shape [1, 64] formats [bf16]
lm.param @up source "u" shape [8, 32, 64] formats [bf16]
// CHECK-LABEL: func.func @step
// KEEP-LABEL: func.func @step
func.func @step(%x: tensor<?x64xf32>, %g: !lm.groups<8, 2>) -> (!lm.routes<8, 2>, tensor<?x64xf32>, tensor<?x32xf32>) {
  %r = lm.load_param @router : !lm.weight<[8, 64], q8_0>
  %w = lm.load_param @gate : !lm.weight<[1, 64], bf16>
  %u = lm.load_param @up : !lm.weight<[8, 32, 64], bf16>
  // CHECK-DAG: %[[R:.*]] = lm.convert_weight %{{.*}} : !lm.weight<[8, 64], q8_0> -> !lm.weight<[8, 64], f32>
  // CHECK-DAG: %[[W:.*]] = lm.load_param @gate
  // CHECK-DAG: %[[U:.*]] = lm.convert_weight %{{.*}} -> !lm.weight<[8, 32, 64], int4>
  // CHECK: lm.fused_linear %{{.*}}, (%[[R]], %[[W]])
  // CHECK: lm.expert_linear %{{.*}}, %{{.*}}, %[[U]]
  // KEEP: lm.convert_weight {{.*}} -> !lm.weight<[8, 64], f32>
  // KEEP-NOT: lm.convert_weight
  %s, %o = lm.fused_linear %x, (%r, %w) {has_bias = array<i1: false, false>} : tensor<?x64xf32>, (!lm.weight<[8, 64], q8_0>, !lm.weight<[1, 64], bf16>) -> (tensor<?x8xf32>, tensor<?x1xf32>)
  %routes = lm.route softmax %s : tensor<?x8xf32> -> !lm.routes<8, 2>
  %t = lm.sigmoid_gate %x, %o : tensor<?x64xf32>, tensor<?x1xf32>
  %p = lm.dispatch %x, %g : tensor<?x64xf32>, !lm.groups<8, 2>
  %e = lm.expert_linear %p, %g, %u : tensor<?x64xf32>, !lm.groups<8, 2>, !lm.weight<[8, 32, 64], bf16> -> tensor<?x32xf32>
  return %routes, %t, %e : !lm.routes<8, 2>, tensor<?x64xf32>, tensor<?x32xf32>
}
