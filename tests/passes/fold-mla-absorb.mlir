// The three forms, forced; and two of them in one step where the cost model
// says so.
// RUN: quire-opt %s --fold-mla-absorb="form=materialised" | FileCheck %s --check-prefix=MATERIALISED
// RUN: quire-opt %s --fold-mla-absorb="form=factored" | FileCheck %s --check-prefix=FACTORED
// RUN: quire-opt %s --fold-mla-absorb="form=folded quantize=bf16" | FileCheck %s --check-prefix=FOLDED
// RUN: quire-opt %s --fold-mla-absorb="page-size=24" | FileCheck %s --check-prefix=AUTO
// RUN: not quire-opt %s --fold-mla-absorb="form=folded" 2>&1 | FileCheck %s --check-prefix=KEEP
// RUN: not quire-opt %s --fold-mla-absorb="form=melted" 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// KEEP: error: cannot be folded: folded weights are new numbers, which keep cannot store; choose another --quantize
// UNKNOWN: error: form 'melted' of latent attention is not known; use auto, materialised, factored or folded

lm.param @q source "q" shape [48, 64] formats [bf16]
lm.param @up source "up" shape [56, 32] formats [bf16]
lm.param @o source "o" shape [64, 24] formats [bf16]
func.func @dense(%x: tensor<?x64xf32>, %latent: tensor<?x32xf32>, %kr0: tensor<?x4xf32>, %qr0: tensor<?x16xf32>, %t: tensor<?x4xf32>, %batch: !lm.batch) -> tensor<?x64xf32> {
  %wq = lm.load_param @q : !lm.weight<[48, 64], bf16>
  %up = lm.load_param @up : !lm.weight<[56, 32], bf16>
  %wo = lm.load_param @o : !lm.weight<[64, 24], bf16>
  %wc = lm.take_rows %wq {heads = 4 : i64, begin = 0 : i64} : !lm.weight<[48, 64], bf16> -> !lm.weight<[32, 64], bf16>
  %qc = lm.linear %x, %wc : tensor<?x64xf32>, !lm.weight<[32, 64], bf16> -> tensor<?x32xf32>
  %qr = lm.rope %qr0, %t {head_dim = 4 : i64} : tensor<?x16xf32>, tensor<?x4xf32>
  %kr = lm.rope %kr0, %t {head_dim = 4 : i64} : tensor<?x4xf32>, tensor<?x4xf32>
  %uk = lm.take_rows %up {heads = 4 : i64, begin = 0 : i64} : !lm.weight<[56, 32], bf16> -> !lm.weight<[4, 8, 32], bf16>
  %uv = lm.take_rows %up {heads = 4 : i64, begin = 8 : i64} : !lm.weight<[56, 32], bf16> -> !lm.weight<[4, 6, 32], bf16>
  // MATERIALISED: lm.latent_attention {{.*}} raised by {{.*}} {heads = 4 : i64, scale
  // MATERIALISED-NOT: lm.select_form

  // FACTORED: %[[CONTENT:.*]] = lm.linear
  // FACTORED: %[[QUERY:.*]] = lm.head_linear %[[CONTENT]], %{{.*}} {transposed} : {{.*}} -> tensor<?x128xf32>
  // FACTORED: %[[LATENTS:.*]] = lm.latent_attention %[[QUERY]], {{.*}} {heads = 4 : i64, {{.*}} -> tensor<?x128xf32>
  // FACTORED: %[[VALUES:.*]] = lm.head_linear %[[LATENTS]], %{{.*}} -> tensor<?x24xf32>
  // FACTORED: lm.linear %[[VALUES]]

  // FOLDED-NOT: tensor<?x64xf32>, !lm.weight<[32, 64]
  // FOLDED: %[[STACK:.*]] = lm.take_rows %{{.*}} {begin = 0 : i64, heads = 4 : i64} : !lm.weight<[48, 64], bf16> -> !lm.weight<[4, 8, 64], bf16>
  // FOLDED: %[[KEY:.*]] = lm.fold_key %[[STACK]], %{{.*}} -> !lm.weight<[128, 64], f32>
  // FOLDED: %[[QUERY:.*]] = lm.linear %{{.*}}, %[[KEY]]
  // FOLDED: %[[LATENTS:.*]] = lm.latent_attention %[[QUERY]]
  // FOLDED: %[[VALUE:.*]] = lm.fold_value {{.*}} -> !lm.weight<[64, 128], f32>
  // FOLDED: lm.linear %[[LATENTS]], %[[VALUE]]

  // A block is whole pages of at least 256 tokens.
  // AUTO: lm.materialised_block = 264 : i64
  // AUTO: %[[CONTENT:.*]] = lm.linear
  // AUTO: %[[MC:.*]] = lm.select_form materialised %[[CONTENT]]
  // AUTO: %[[MR:.*]] = lm.select_form materialised
  // AUTO: %[[M:.*]] = lm.latent_attention %[[MC]], %[[MR]], {{.*}} raised by {{.*}} rows materialised
  // AUTO: %[[LC:.*]] = lm.select_form latent %[[CONTENT]]
  // AUTO: %[[LQ:.*]] = lm.head_linear %[[LC]], %{{.*}} {transposed}
  // AUTO: %[[LR:.*]] = lm.select_form latent
  // AUTO: %[[L:.*]] = lm.latent_attention %[[LQ]], %[[LR]], {{.*}} rows latent
  // AUTO: %[[LV:.*]] = lm.head_linear %[[L]]
  // AUTO: %[[ALL:.*]] = lm.merge_forms %[[M]], %[[LV]]
  // AUTO: lm.linear %[[ALL]]
  %a = lm.latent_attention %qc, %qr, %latent, %kr, %batch raised by %uk, %uv {heads = 4 : i64, scale = 0.25 : f64} : tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x32xf32>, tensor<?x4xf32>, !lm.weight<[4, 8, 32], bf16>, !lm.weight<[4, 6, 32], bf16> -> tensor<?x24xf32>
  %y = lm.linear %a, %wo : tensor<?x24xf32>, !lm.weight<[64, 24], bf16> -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
