// quantize-weights: matrices get the wanted format, vectors stay.
// RUN: quire-opt %s -quantize-weights=to=int4 | FileCheck %s
// RUN: quire-opt %s -quantize-weights=to=bf16 | FileCheck %s --check-prefix=SAME
// RUN: quire-opt %s -quantize-weights | FileCheck %s --check-prefix=KEEP

lm.param @embedding source "e" shape [48, 64] formats [bf16]
lm.param @up source "up" shape [96, 64] formats [bf16]
lm.param @odd source "odd" shape [64, 96] formats [bf16]
lm.param @narrow source "narrow" shape [64, 40] formats [bf16]
lm.param @norm source "norm" shape [64] formats [bf16]

// Weights of the wanted format are left alone, and `keep` leaves all.
// SAME-NOT: lm.convert_weight
// KEEP: keep: the checkpoint's own formats
// KEEP-NOT: lm.convert_weight

// CHECK-LABEL: func.func @step
func.func @step(%batch: !lm.batch, %n: tensor<?x40xf32>) -> tensor<?x48xf32> {
  // The vocabulary's matrix is read by row and decides tokens: int8.
  // CHECK: %[[E:.*]] = lm.load_param @embedding
  // CHECK-NEXT: %[[E8:.*]] = lm.convert_weight %[[E]] : {{.*}} -> !lm.weight<[48, 64], int8>
  %e = lm.load_param @embedding : !lm.weight<[48, 64], bf16>
  // CHECK: lm.embed %{{.*}}, %[[E8]]
  %x = lm.embed %batch, %e {scale = 1.0 : f64} : !lm.weight<[48, 64], bf16> -> tensor<?x64xf32>
  // CHECK: %[[N:.*]] = lm.load_param @norm
  %w = lm.load_param @norm : !lm.weight<[64], bf16>
  // CHECK-NEXT: lm.rms_norm %{{.*}}, %[[N]]
  %y = lm.rms_norm %x, %w {epsilon = 1.0e-5 : f64} : tensor<?x64xf32>, !lm.weight<[64], bf16>
  %up = lm.load_param @up : !lm.weight<[96, 64], bf16>
  // CHECK: lm.convert_weight %{{.*}} : {{.*}} -> !lm.weight<[96, 64], int4>
  %u = lm.linear %y, %up : tensor<?x64xf32>, !lm.weight<[96, 64], bf16> -> tensor<?x96xf32>
  // A weight that two products read is converted once.
  // CHECK-COUNT-1: -> !lm.weight<[64, 96], int4>
  %o = lm.load_param @odd : !lm.weight<[64, 96], bf16>
  %d = lm.linear %u, %o : tensor<?x96xf32>, !lm.weight<[64, 96], bf16> -> tensor<?x64xf32>
  %d2 = lm.linear %u, %o : tensor<?x96xf32>, !lm.weight<[64, 96], bf16> -> tensor<?x64xf32>
  // 40 inputs are no whole groups of 32: bf16, which it is.
  // CHECK: %[[NW:.*]] = lm.load_param @narrow
  %nw = lm.load_param @narrow : !lm.weight<[64, 40], bf16>
  // CHECK-NEXT: lm.linear %{{.*}}, %[[NW]]
  %z = lm.linear %n, %nw : tensor<?x40xf32>, !lm.weight<[64, 40], bf16> -> tensor<?x64xf32>
  %a = lm.add %d, %d2 : tensor<?x64xf32>
  %b = lm.add %a, %z : tensor<?x64xf32>
  // CHECK: lm.linear %{{.*}}, %[[E8]]
  %l = lm.linear %b, %e : tensor<?x64xf32>, !lm.weight<[48, 64], bf16> -> tensor<?x48xf32>
  return %l : tensor<?x48xf32>
}
