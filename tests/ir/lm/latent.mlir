// Latent attention parses, verifies and prints as it was written.
// RUN: quire-opt %s | quire-opt | FileCheck %s

lm.param @q source "q" shape [48, 64] formats [bf16]
lm.param @kv source "kv" shape [56, 32] formats [q4_0]
lm.param @o source "o" shape [64, 24] formats [bf16]
// CHECK: lm.cache_group @kv_latent : !lm.kv<latent = 32, rotary = 4, format = bf16, page = 16, window = 0> layers [0]
lm.cache_group @kv_latent : !lm.kv<latent = 32, rotary = 4, format = bf16, page = 16, window = 0> layers [0]

// Four heads of 8 content and 4 rotary channels, values of 6.
// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<?x64xf32>, %qc: tensor<?x32xf32>, %q: tensor<?x16xf32>, %c: tensor<?x32xf32>, %k: tensor<?x4xf32>, %t: tensor<?x4xf32>, %batch: !lm.batch, %layer: index) -> tensor<?x24xf32> {
  %wq = lm.load_param @q : !lm.weight<[48, 64], bf16>
  %kv = lm.load_param @kv : !lm.weight<[56, 32], q4_0>
  %wo = lm.load_param @o : !lm.weight<[64, 24], bf16>
  // CHECK: lm.take_rows %{{.*}} {begin = 0 : i64, heads = 4 : i64} : !lm.weight<[56, 32], q4_0> -> !lm.weight<[4, 8, 32], q4_0>
  %uk = lm.take_rows %kv {heads = 4 : i64, begin = 0 : i64} : !lm.weight<[56, 32], q4_0> -> !lm.weight<[4, 8, 32], q4_0>
  %uv = lm.take_rows %kv {heads = 4 : i64, begin = 8 : i64} : !lm.weight<[56, 32], q4_0> -> !lm.weight<[4, 6, 32], q4_0>
  %uq = lm.take_rows %wq {heads = 4 : i64, begin = 0 : i64} : !lm.weight<[48, 64], bf16> -> !lm.weight<[4, 8, 64], bf16>
  // CHECK: lm.take_rows %{{.*}} : !lm.weight<[48, 64], bf16> -> !lm.weight<[16, 64], bf16>
  %qr = lm.take_rows %wq {heads = 4 : i64, begin = 8 : i64} : !lm.weight<[48, 64], bf16> -> !lm.weight<[16, 64], bf16>
  // CHECK: lm.fold_key %{{.*}}, %{{.*}} : !lm.weight<[4, 8, 64], bf16>, !lm.weight<[4, 8, 32], q4_0> -> !lm.weight<[128, 64], f32>
  %fk = lm.fold_key %uq, %uk : !lm.weight<[4, 8, 64], bf16>, !lm.weight<[4, 8, 32], q4_0> -> !lm.weight<[128, 64], f32>
  // CHECK: lm.fold_value %{{.*}}, %{{.*}} : !lm.weight<[64, 24], bf16>, !lm.weight<[4, 6, 32], q4_0> -> !lm.weight<[64, 128], f32>
  %fv = lm.fold_value %wo, %uv : !lm.weight<[64, 24], bf16>, !lm.weight<[4, 6, 32], q4_0> -> !lm.weight<[64, 128], f32>
  %r = lm.rope %q, %t {head_dim = 4 : i64} : tensor<?x16xf32>, tensor<?x4xf32>
  %kr = lm.rope %k, %t {head_dim = 4 : i64} : tensor<?x4xf32>, tensor<?x4xf32>
  // CHECK: lm.latent_attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} raised by %{{.*}}, %{{.*}} {heads = 4 : i64, scale = 2.500000e-01 : f64} : tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x32xf32>, tensor<?x4xf32>, !lm.weight<[4, 8, 32], q4_0>, !lm.weight<[4, 6, 32], q4_0> -> tensor<?x24xf32>
  %m = lm.latent_attention %qc, %r, %c, %kr, %batch raised by %uk, %uv {heads = 4 : i64, scale = 0.25 : f64} : tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x32xf32>, tensor<?x4xf32>, !lm.weight<[4, 8, 32], q4_0>, !lm.weight<[4, 6, 32], q4_0> -> tensor<?x24xf32>
  // CHECK: lm.select_form latent %{{.*}}, %{{.*}} : tensor<?x32xf32>
  %sc = lm.select_form latent %qc, %batch : tensor<?x32xf32>
  %sr = lm.select_form latent %r, %batch : tensor<?x16xf32>
  // CHECK: lm.head_linear %{{.*}}, %{{.*}} {transposed} : tensor<?x32xf32>, !lm.weight<[4, 8, 32], q4_0> -> tensor<?x128xf32>
  %ql = lm.head_linear %sc, %uk {transposed} : tensor<?x32xf32>, !lm.weight<[4, 8, 32], q4_0> -> tensor<?x128xf32>
  %cache = lm.cache @kv_latent[%layer] : !lm.kv<latent = 32, rotary = 4, format = bf16, page = 16, window = 0>
  %full = lm.kv_append %cache, %c, %kr, %batch : !lm.kv<latent = 32, rotary = 4, format = bf16, page = 16, window = 0>, tensor<?x32xf32>, tensor<?x4xf32>
  // CHECK: lm.paged_latent_attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} rows latent {heads = 4 : i64, scale = 2.500000e-01 : f64} : tensor<?x128xf32>, tensor<?x16xf32>, !lm.kv<latent = 32, rotary = 4, format = bf16, page = 16, window = 0> -> tensor<?x128xf32>
  %a = lm.paged_latent_attention %ql, %sr, %full, %batch rows latent {heads = 4 : i64, scale = 0.25 : f64} : tensor<?x128xf32>, tensor<?x16xf32>, !lm.kv<latent = 32, rotary = 4, format = bf16, page = 16, window = 0> -> tensor<?x128xf32>
  // CHECK: lm.head_linear %{{.*}}, %{{.*}} : tensor<?x128xf32>, !lm.weight<[4, 6, 32], q4_0> -> tensor<?x24xf32>
  %l = lm.head_linear %a, %uv : tensor<?x128xf32>, !lm.weight<[4, 6, 32], q4_0> -> tensor<?x24xf32>
  // CHECK: lm.merge_forms %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x24xf32>
  %y = lm.merge_forms %m, %l, %batch : tensor<?x24xf32>
  return %y : tensor<?x24xf32>
}
