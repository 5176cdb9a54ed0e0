// Mixtures of experts parse, verify and print as they were written.
// RUN: quire-opt %s | quire-opt | FileCheck %s

lm.param @b source "b" shape [8] formats [f32]
lm.param @up source "up" shape [8, 32, 64] formats [q8_0]
lm.param @down source "down" shape [8, 64, 32] formats [q8_0]

// CHECK-LABEL: func.func @experts
func.func @experts(%x: tensor<?x64xf32>, %s: tensor<?x8xf32>, %one: tensor<?x1xf32>, %a: !lm.activation<64, int8_by_32>) -> tensor<?x64xf32> {
  %b = lm.load_param @b : !lm.weight<[8], f32>
  %u = lm.load_param @up : !lm.weight<[8, 32, 64], q8_0>
  %d = lm.load_param @down : !lm.weight<[8, 64, 32], q8_0>
  // CHECK: lm.route softmax %{{.*}} {normalise} : tensor<?x8xf32> -> !lm.routes<8, 2>
  %plain = lm.route softmax %s {normalise} : tensor<?x8xf32> -> !lm.routes<8, 2>
  // CHECK: lm.route sigmoid %{{.*}} bias %{{.*}} by top2 {groups = 4 : i64, scale = 2.500000e+00 : f64, top_groups = 2 : i64} : tensor<?x8xf32>, !lm.weight<[8], f32> -> !lm.routes<8, 2>
  %r = lm.route sigmoid %s bias %b by top2 {groups = 4 : i64, top_groups = 2 : i64, scale = 2.5 : f64} : tensor<?x8xf32>, !lm.weight<[8], f32> -> !lm.routes<8, 2>
  // CHECK: lm.experts silu %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x64xf32>, !lm.routes<8, 2>
  %y = lm.experts silu %x, %plain, %u, %u, %d : tensor<?x64xf32>, !lm.routes<8, 2>, !lm.weight<[8, 32, 64], q8_0>, !lm.weight<[8, 32, 64], q8_0>, !lm.weight<[8, 64, 32], q8_0>
  // CHECK: lm.group_routes %{{.*}} : !lm.routes<8, 2> -> !lm.groups<8, 2>
  %g = lm.group_routes %r : !lm.routes<8, 2> -> !lm.groups<8, 2>
  // CHECK: lm.dispatch %{{.*}}, %{{.*}} : !lm.activation<64, int8_by_32>, !lm.groups<8, 2>
  %p = lm.dispatch %a, %g : !lm.activation<64, int8_by_32>, !lm.groups<8, 2>
  // CHECK: lm.expert_gated_linear silu %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !lm.activation<64, int8_by_32>, !lm.groups<8, 2>
  %h = lm.expert_gated_linear silu %p, %g, %u, %u : !lm.activation<64, int8_by_32>, !lm.groups<8, 2>, !lm.weight<[8, 32, 64], q8_0>, !lm.weight<[8, 32, 64], q8_0> -> tensor<?x32xf32>
  // CHECK: lm.expert_linear %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x32xf32>, !lm.groups<8, 2>
  %o = lm.expert_linear %h, %g, %d : tensor<?x32xf32>, !lm.groups<8, 2>, !lm.weight<[8, 64, 32], q8_0> -> tensor<?x64xf32>
  // CHECK: lm.combine %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x64xf32>, !lm.routes<8, 2>, !lm.groups<8, 2>
  %c = lm.combine %o, %r, %g : tensor<?x64xf32>, !lm.routes<8, 2>, !lm.groups<8, 2>
  // CHECK: lm.sigmoid_gate %{{.*}}, %{{.*}} : tensor<?x64xf32>, tensor<?x1xf32>
  %t = lm.sigmoid_gate %c, %one : tensor<?x64xf32>, tensor<?x1xf32>
  return %t : tensor<?x64xf32>
}
