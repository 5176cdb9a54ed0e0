// lower-lm-to-rt: functions become sequences of launches, weights slots,
// values buffers.
// RUN: quire-opt %s -lower-lm-to-rt="max-rows=64 max-logit-rows=4" -split-input-file | FileCheck %s

// A tied head shares the embedding's slot; the layers' rows live in @x; what
// follows the loop stays behind it; row-wise ops become one function.
// CHECK-NOT: func.func @step
// CHECK: rt.buffer @logits f32 rows 4 row_bytes 128
// CHECK: rt.buffer @x f32 rows 64 row_bytes 64
// CHECK-LABEL: rt.sequence @dense {
// CHECK-NEXT: rt.launch {{.*}}"linear_f32", {activation = @x,{{.*}} out = @[[D:[a-z0-9_.]+]],{{.*}}weight = @dense.w.weight}
// CHECK-NEXT: rt.launch {{.*}}"fused_0", {inputs = [@[[D]]], outputs = [@x], rowSet = 0 : i64, tileRows = 64 : i64}
// CHECK-NEXT: }
// CHECK: rt.weight @dense.w.weight f32 [16, 16] bytes 4096 layers [0, 1]
// CHECK: func.func private @fused_0
// CHECK-NEXT: lm.scale
// CHECK-NEXT: lm.softcap
// CHECK-LABEL: rt.sequence @step {
// CHECK-NEXT: rt.launch {{.*}}"embed_f32", {{.*}} out = @x,{{.*}} weight = @step.embedding.weight}
// CHECK-NEXT: rt.loop kinds [@dense] which [0, 0] indices [0, 1]
// CHECK-NEXT: rt.launch {{.*}}"gather_logit_rows"
// CHECK-NEXT: rt.launch {{.*}}"linear_f32", {{.*}} out = @logits,{{.*}} rowSet = 1 : i64, weight = @step.embedding.weight}
// CHECK-NEXT: }
// CHECK: rt.weight @step.embedding.weight f32 [32, 16]
// CHECK-NOT: rt.weight
lm.param @embedding source "e" shape [32, 16] formats [f32]
lm.param @w source "w.{}" shape [16, 16] formats [f32] layers 2
func.func @dense(%x: tensor<?x16xf32>, %batch: !lm.batch, %layer: index) -> tensor<?x16xf32> {
  %w = lm.load_param @w[%layer] : !lm.weight<[16, 16], f32>
  %d = lm.linear %x, %w : tensor<?x16xf32>, !lm.weight<[16, 16], f32> -> tensor<?x16xf32>
  %s = lm.scale %d {by = 2.0 : f64} : tensor<?x16xf32>
  %c = lm.softcap %s {cap = 3.0 : f64} : tensor<?x16xf32>
  return %c : tensor<?x16xf32>
}
func.func @step(%batch: !lm.batch) -> tensor<?x32xf32> {
  %e = lm.load_param @embedding : !lm.weight<[32, 16], f32>
  %x = lm.embed %batch, %e {scale = 1.0 : f64} : !lm.weight<[32, 16], f32> -> tensor<?x16xf32>
  %y = lm.layers %x captures(%batch : !lm.batch) kinds [@dense] which [0, 0] indices [0, 1] : tensor<?x16xf32>
  %l = lm.select_logit_rows %y, %batch : tensor<?x16xf32>
  %h = lm.load_param @embedding : !lm.weight<[32, 16], f32>
  %o = lm.linear %l, %h : tensor<?x16xf32>, !lm.weight<[32, 16], f32> -> tensor<?x32xf32>
  return %o : tensor<?x32xf32>
}

// -----

// A weight without layers is one slot, in whichever kind or step it is read.
// CHECK: rt.weight @dense.shared.weight f32 [16] bytes 64 layers []
// CHECK-NOT: rt.weight @
// CHECK-LABEL: rt.sequence @step {
// CHECK: "rms_norm", {{.*}}weight = @dense.shared.weight,
lm.param @embedding source "e" shape [16, 16] formats [f32]
lm.param @shared source "n" shape [16] formats [f32]
func.func @dense(%x: tensor<?x16xf32>, %batch: !lm.batch, %layer: index) -> tensor<?x16xf32> {
  %w = lm.load_param @shared : !lm.weight<[16], f32>
  %n = lm.rms_norm %x, %w {epsilon = 1.0e-5 : f64} : tensor<?x16xf32>, !lm.weight<[16], f32>
  %s = lm.scale %n {by = 2.0 : f64} : tensor<?x16xf32>
  return %s : tensor<?x16xf32>
}
func.func @step(%batch: !lm.batch, %x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %y = lm.layers %x captures(%batch : !lm.batch) kinds [@dense] which [0] indices [0] : tensor<?x16xf32>
  %w = lm.load_param @shared : !lm.weight<[16], f32>
  %n = lm.rms_norm %y, %w {epsilon = 1.0e-5 : f64} : tensor<?x16xf32>, !lm.weight<[16], f32>
  return %n : tensor<?x16xf32>
}

// -----

// Two row-wise ops that each read the other's neighbour join one group, for
// two groups that need each other could not run. Independent ops share a
// launch, and what nobody reads is not run.
// CHECK-LABEL: rt.sequence @step {
// CHECK-NEXT: rt.launch "lm.scale+lm.softcap" [#rt.part<"fused_0", {{.*}}>, #rt.part<"fused_1", {{.*}}>]
// CHECK-NEXT: rt.launch "lm.linear" [#rt.part<"linear_f32", {{.*}}>, #rt.part<"linear_f32", {{.*}}>]
// CHECK-NEXT: rt.launch "lm.scale" [#rt.part<"fused_0", {inputs = [@step.linear_2]
// CHECK-NEXT: rt.launch "lm.scale" [#rt.part<"fused_2", {inputs = [@step.linear, {{.*}}outputs = [@logits], {{.*}}
// CHECK-NEXT: }
lm.param @w source "w" shape [16, 16] formats [f32]
func.func @step(%batch: !lm.batch, %x: tensor<?x16xf32>, %z: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %w = lm.load_param @w : !lm.weight<[16, 16], f32>
  %a = lm.scale %x {by = 2.0 : f64} : tensor<?x16xf32>
  %b = lm.softcap %z {cap = 3.0 : f64} : tensor<?x16xf32>
  %dead = lm.scale %z {by = 9.0 : f64} : tensor<?x16xf32>
  %p = lm.linear %a, %w : tensor<?x16xf32>, !lm.weight<[16, 16], f32> -> tensor<?x16xf32>
  %q = lm.linear %b, %w : tensor<?x16xf32>, !lm.weight<[16, 16], f32> -> tensor<?x16xf32>
  %p2 = lm.scale %p {by = 2.0 : f64} : tensor<?x16xf32>
  %q2 = lm.scale %q {by = 2.0 : f64} : tensor<?x16xf32>
  %c = lm.add %p2, %q2 : tensor<?x16xf32>
  %d = lm.mul %q2, %p2 : tensor<?x16xf32>
  %e = lm.add %c, %d : tensor<?x16xf32>
  return %e : tensor<?x16xf32>
}
