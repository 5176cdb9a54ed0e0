// Latent attention that does not fit together (lm.head_linear C1,
// lm.latent_attention C1-C3, lm.paged_latent_attention C3-C4, lm.take_rows
// C1-C3, lm.fold_key and lm.fold_value C1-C2).
// RUN: quire-opt %s -split-input-file -verify-diagnostics

lm.param @w source "w" shape [4, 8, 32] formats [f32]
func.func @head_linear_c1(%x: tensor<?x64xf32>) {
  %w = lm.load_param @w : !lm.weight<[4, 8, 32], f32>
  // expected-error @+1 {{turns rows of 32 features into 128}}
  %y = lm.head_linear %x, %w {transposed} : tensor<?x64xf32>, !lm.weight<[4, 8, 32], f32> -> tensor<?x128xf32>
  return
}

// -----

func.func @latent_attention_c1(%q: tensor<?x64xf32>, %qr: tensor<?x16xf32>, %c: tensor<?x32xf32>, %k: tensor<?x4xf32>, %t: tensor<?x4xf32>, %batch: !lm.batch) {
  %r = lm.rope %qr, %t {head_dim = 4 : i64} : tensor<?x16xf32>, tensor<?x4xf32>
  %kr = lm.rope %k, %t {head_dim = 4 : i64} : tensor<?x4xf32>, tensor<?x4xf32>
  // expected-error @+1 {{has 4 heads of 32 + 4 channels and values of 32}}
  %o = lm.latent_attention %q, %r, %c, %kr, %batch {heads = 4 : i64, scale = 1.0 : f64} : tensor<?x64xf32>, tensor<?x16xf32>, tensor<?x32xf32>, tensor<?x4xf32> -> tensor<?x128xf32>
  return
}

// -----

lm.param @w source "w" shape [2, 8, 32] formats [f32]
func.func @latent_attention_c2(%q: tensor<?x32xf32>, %qr: tensor<?x16xf32>, %c: tensor<?x32xf32>, %k: tensor<?x4xf32>, %t: tensor<?x4xf32>, %batch: !lm.batch) {
  %w = lm.load_param @w : !lm.weight<[2, 8, 32], f32>
  %r = lm.rope %qr, %t {head_dim = 4 : i64} : tensor<?x16xf32>, tensor<?x4xf32>
  %kr = lm.rope %k, %t {head_dim = 4 : i64} : tensor<?x4xf32>, tensor<?x4xf32>
  // expected-error @+1 {{needs a stack of 4 matrices with 32 inputs, not '!lm.weight<[2, 8, 32], f32>'}}
  %o = lm.latent_attention %q, %r, %c, %kr, %batch raised by %w, %w {heads = 4 : i64, scale = 1.0 : f64} : tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x32xf32>, tensor<?x4xf32>, !lm.weight<[2, 8, 32], f32>, !lm.weight<[2, 8, 32], f32> -> tensor<?x32xf32>
  return
}

// -----

// What the model would compute if rotary channels were folded into a weight.
func.func @rotary_query_folded(%q: tensor<?x128xf32>, %qr: tensor<?x16xf32>, %c: tensor<?x32xf32>, %k: tensor<?x4xf32>, %t: tensor<?x4xf32>, %batch: !lm.batch) {
  %kr = lm.rope %k, %t {head_dim = 4 : i64} : tensor<?x4xf32>, tensor<?x4xf32>
  %s = lm.select_form latent %qr, %batch : tensor<?x16xf32>
  // expected-error @+1 {{has a rotary query that no lm.rope has rotated; the rotary part is never folded into a weight}}
  %o = lm.latent_attention %q, %s, %c, %kr, %batch rows latent {heads = 4 : i64, scale = 1.0 : f64} : tensor<?x128xf32>, tensor<?x16xf32>, tensor<?x32xf32>, tensor<?x4xf32> -> tensor<?x128xf32>
  return
}

// -----

func.func @rotary_key_folded(%q: tensor<?x128xf32>, %qr: tensor<?x16xf32>, %c: tensor<?x32xf32>, %k: tensor<?x4xf32>, %t: tensor<?x4xf32>, %batch: !lm.batch) {
  %r = lm.rope %qr, %t {head_dim = 4 : i64} : tensor<?x16xf32>, tensor<?x4xf32>
  // expected-error @+1 {{has a rotary key that no lm.rope has rotated}}
  %o = lm.latent_attention %q, %r, %c, %k, %batch {heads = 4 : i64, scale = 1.0 : f64} : tensor<?x128xf32>, tensor<?x16xf32>, tensor<?x32xf32>, tensor<?x4xf32> -> tensor<?x128xf32>
  return
}

// -----

func.func @paged_c4(%q: tensor<?x128xf32>, %qr: tensor<?x16xf32>, %c: !lm.kv<heads = 1, key = 32, value = 4, format = f32, page = 16, window = 0>, %t: tensor<?x4xf32>, %batch: !lm.batch) {
  %r = lm.rope %qr, %t {head_dim = 4 : i64} : tensor<?x16xf32>, tensor<?x4xf32>
  // expected-error @+1 {{reads latents from '!lm.kv<heads = 1, key = 32, value = 4, format = f32, page = 16, window = 0>'}}
  %o = lm.paged_latent_attention %q, %r, %c, %batch {heads = 4 : i64, scale = 1.0 : f64} : tensor<?x128xf32>, tensor<?x16xf32>, !lm.kv<heads = 1, key = 32, value = 4, format = f32, page = 16, window = 0> -> tensor<?x128xf32>
  return
}

// -----

func.func @paged_c3(%q: tensor<?x128xf32>, %qr: tensor<?x16xf32>, %c: !lm.kv<latent = 32, rotary = 4, format = f32, page = 16, window = 0>, %batch: !lm.batch) {
  // expected-error @+1 {{has a rotary query that no lm.rope has rotated}}
  %o = lm.paged_latent_attention %q, %qr, %c, %batch {heads = 4 : i64, scale = 1.0 : f64} : tensor<?x128xf32>, tensor<?x16xf32>, !lm.kv<latent = 32, rotary = 4, format = f32, page = 16, window = 0> -> tensor<?x128xf32>
  return
}

// -----

lm.param @w source "w" shape [56, 32] formats [f32]
func.func @take_rows_c1() {
  %w = lm.load_param @w : !lm.weight<[56, 32], f32>
  // expected-error @+1 {{takes rows of 3 heads of}}
  %a = lm.take_rows %w {heads = 3 : i64, begin = 0 : i64} : !lm.weight<[56, 32], f32> -> !lm.weight<[3, 8, 32], f32>
  return
}

// -----

lm.param @w source "w" shape [56, 32] formats [f32]
func.func @take_rows_c2() {
  %w = lm.load_param @w : !lm.weight<[56, 32], f32>
  // expected-error @+1 {{takes 8 rows from 7 on of heads that have 14}}
  %a = lm.take_rows %w {heads = 4 : i64, begin = 7 : i64} : !lm.weight<[56, 32], f32> -> !lm.weight<[4, 8, 32], f32>
  return
}

// -----

lm.param @w source "w" shape [56, 32] formats [f32]
func.func @take_rows_c3() {
  %w = lm.load_param @w : !lm.weight<[56, 32], f32>
  // expected-error @+1 {{inputs and format must stay}}
  %a = lm.take_rows %w {heads = 4 : i64, begin = 0 : i64} : !lm.weight<[56, 32], f32> -> !lm.weight<[4, 8, 32], bf16>
  return
}

// -----

lm.param @q source "q" shape [4, 8, 64] formats [f32]
lm.param @k source "k" shape [4, 6, 32] formats [f32]
func.func @fold_key_c1() {
  %q = lm.load_param @q : !lm.weight<[4, 8, 64], f32>
  %k = lm.load_param @k : !lm.weight<[4, 6, 32], f32>
  // expected-error @+1 {{needs stacks of as many matrices of as many rows}}
  %w = lm.fold_key %q, %k : !lm.weight<[4, 8, 64], f32>, !lm.weight<[4, 6, 32], f32> -> !lm.weight<[128, 64], f32>
  return
}

// -----

lm.param @q source "q" shape [4, 8, 64] formats [f32]
func.func @fold_key_c2() {
  %q = lm.load_param @q : !lm.weight<[4, 8, 64], f32>
  // expected-error @+1 {{gives f32 of [256, 64], not '!lm.weight<[256, 64], bf16>'}}
  %w = lm.fold_key %q, %q : !lm.weight<[4, 8, 64], f32>, !lm.weight<[4, 8, 64], f32> -> !lm.weight<[256, 64], bf16>
  return
}

// -----

lm.param @o source "o" shape [64, 32] formats [f32]
lm.param @v source "v" shape [4, 6, 32] formats [f32]
func.func @fold_value_c1() {
  %o = lm.load_param @o : !lm.weight<[64, 32], f32>
  %v = lm.load_param @v : !lm.weight<[4, 6, 32], f32>
  // expected-error @+1 {{needs a matrix with an input for every row of a stack}}
  %w = lm.fold_value %o, %v : !lm.weight<[64, 32], f32>, !lm.weight<[4, 6, 32], f32> -> !lm.weight<[64, 128], f32>
  return
}
