// Attention to latents stands as such: query products are cut by rows of their
// weight, the stacks that raise keys and values by heads.
// RUN: quire-opt %s --split-decoupled-rope -split-input-file | FileCheck %s

// Four heads of 8 content and 4 rotary channels, values of 6, rank 32.
lm.param @q source "q" shape [48, 64] formats [q4_0]
lm.param @c source "c" shape [32, 64] formats [bf16]
lm.param @k source "k" shape [4, 64] formats [bf16]
lm.param @up source "up" shape [56, 32] formats [q8_0]
// CHECK-LABEL: func.func @latent
func.func @latent(%x: tensor<?x64xf32>, %t: tensor<?x4xf32>, %batch: !lm.batch) -> tensor<?x24xf32> {
  %wq = lm.load_param @q : !lm.weight<[48, 64], q4_0>
  %wc = lm.load_param @c : !lm.weight<[32, 64], bf16>
  %wk = lm.load_param @k : !lm.weight<[4, 64], bf16>
  %up = lm.load_param @up : !lm.weight<[56, 32], q8_0>
  // CHECK: %[[LATENT:.*]] = lm.linear %{{.*}} -> tensor<?x32xf32>
  %latent = lm.linear %x, %wc : tensor<?x64xf32>, !lm.weight<[32, 64], bf16> -> tensor<?x32xf32>
  %kr0 = lm.linear %x, %wk : tensor<?x64xf32>, !lm.weight<[4, 64], bf16> -> tensor<?x4xf32>
  // CHECK: %[[KEY:.*]] = lm.rope
  %kr = lm.rope %kr0, %t {head_dim = 4 : i64} : tensor<?x4xf32>, tensor<?x4xf32>
  // CHECK: lm.take_rows %{{.*}} {begin = 0 : i64, heads = 4 : i64} : !lm.weight<[48, 64], q4_0> -> !lm.weight<[32, 64], q4_0>
  // CHECK: %[[CONTENT:.*]] = lm.linear %{{.*}} -> tensor<?x32xf32>
  // CHECK: lm.take_rows %{{.*}} {begin = 8 : i64, heads = 4 : i64} : !lm.weight<[48, 64], q4_0> -> !lm.weight<[16, 64], q4_0>
  // CHECK: lm.linear %{{.*}} -> tensor<?x16xf32>
  // CHECK: %[[ROTARY:.*]] = lm.rope
  %q = lm.linear %x, %wq : tensor<?x64xf32>, !lm.weight<[48, 64], q4_0> -> tensor<?x48xf32>
  %qc = lm.slice_heads %q {heads = 4 : i64, begin = 0 : i64} : tensor<?x48xf32> -> tensor<?x32xf32>
  %qr0 = lm.slice_heads %q {heads = 4 : i64, begin = 8 : i64} : tensor<?x48xf32> -> tensor<?x16xf32>
  %qr = lm.rope %qr0, %t {head_dim = 4 : i64} : tensor<?x16xf32>, tensor<?x4xf32>
  %query = lm.concat_heads %qc, %qr {heads = 4 : i64} : tensor<?x32xf32>, tensor<?x16xf32> -> tensor<?x48xf32>
  %raised = lm.linear %latent, %up : tensor<?x32xf32>, !lm.weight<[56, 32], q8_0> -> tensor<?x56xf32>
  %kc = lm.slice_heads %raised {heads = 4 : i64, begin = 0 : i64} : tensor<?x56xf32> -> tensor<?x32xf32>
  %v = lm.slice_heads %raised {heads = 4 : i64, begin = 8 : i64} : tensor<?x56xf32> -> tensor<?x24xf32>
  %key = lm.concat_heads %kc, %kr {heads = 4 : i64, shared} : tensor<?x32xf32>, tensor<?x4xf32> -> tensor<?x48xf32>
  // CHECK: %[[UK:.*]] = lm.take_rows %{{.*}} {begin = 0 : i64, heads = 4 : i64} : !lm.weight<[56, 32], q8_0> -> !lm.weight<[4, 8, 32], q8_0>
  // CHECK: %[[UV:.*]] = lm.take_rows %{{.*}} {begin = 8 : i64, heads = 4 : i64} : !lm.weight<[56, 32], q8_0> -> !lm.weight<[4, 6, 32], q8_0>
  // CHECK: %[[OUT:.*]] = lm.latent_attention %[[CONTENT]], %[[ROTARY]], %[[LATENT]], %[[KEY]], %{{.*}} raised by %[[UK]], %[[UV]] {heads = 4 : i64, scale = 2.500000e-01 : f64}
  // CHECK-NOT: lm.slice_heads
  // CHECK-NOT: lm.attention
  // CHECK: return %[[OUT]]
  %o = lm.attention %query, %key, %v, %batch {heads = 4 : i64, kv_heads = 4 : i64, scale = 0.25 : f64} : tensor<?x48xf32>, tensor<?x48xf32>, tensor<?x24xf32> -> tensor<?x24xf32>
  return %o : tensor<?x24xf32>
}

// -----

// A rotary key that was not rotated is left alone.
lm.param @up source "up" shape [56, 32] formats [q8_0]
// CHECK-LABEL: func.func @unrotated
func.func @unrotated(%latent: tensor<?x32xf32>, %kr: tensor<?x4xf32>, %qc: tensor<?x32xf32>, %qr0: tensor<?x16xf32>, %t: tensor<?x4xf32>, %batch: !lm.batch) -> tensor<?x24xf32> {
  %up = lm.load_param @up : !lm.weight<[56, 32], q8_0>
  %qr = lm.rope %qr0, %t {head_dim = 4 : i64} : tensor<?x16xf32>, tensor<?x4xf32>
  %query = lm.concat_heads %qc, %qr {heads = 4 : i64} : tensor<?x32xf32>, tensor<?x16xf32> -> tensor<?x48xf32>
  %raised = lm.linear %latent, %up : tensor<?x32xf32>, !lm.weight<[56, 32], q8_0> -> tensor<?x56xf32>
  %kc = lm.slice_heads %raised {heads = 4 : i64, begin = 0 : i64} : tensor<?x56xf32> -> tensor<?x32xf32>
  %v = lm.slice_heads %raised {heads = 4 : i64, begin = 8 : i64} : tensor<?x56xf32> -> tensor<?x24xf32>
  %key = lm.concat_heads %kc, %kr {heads = 4 : i64, shared} : tensor<?x32xf32>, tensor<?x4xf32> -> tensor<?x48xf32>
  // CHECK: lm.attention
  // CHECK-NOT: lm.latent_attention
  %o = lm.attention %query, %key, %v, %batch {heads = 4 : i64, kv_heads = 4 : i64, scale = 0.25 : f64} : tensor<?x48xf32>, tensor<?x48xf32>, tensor<?x24xf32> -> tensor<?x24xf32>
  return %o : tensor<?x24xf32>
}
