// Heads, widths and tables that do not fit together (lm.rope_table C1, lm.rope
// C1-C2, lm.slice_heads C1-C2, lm.concat_heads C1-C2, lm.attention C1-C2,
// lm.kv_append C1, lm.paged_attention C1-C2).
// RUN: quire-opt %s -split-input-file -verify-diagnostics

func.func @table_c1(%batch: !lm.batch) -> tensor<?x4xf32> {
  // expected-error @+1 {{has 1 rotary pairs but a table of 4 features}}
  %t = lm.rope_table %batch {inverse_frequency = array<f32: 1.0>} : tensor<?x4xf32>
  return %t : tensor<?x4xf32>
}

// -----

func.func @rope_c1(%x: tensor<?x12xf32>, %t: tensor<?x4xf32>) -> tensor<?x12xf32> {
  // expected-error @+1 {{which are not whole heads of 8}}
  %y = lm.rope %x, %t {head_dim = 8 : i64} : tensor<?x12xf32>, tensor<?x4xf32>
  return %y : tensor<?x12xf32>
}

// -----

func.func @rope_c2(%x: tensor<?x16xf32>, %t: tensor<?x10xf32>) -> tensor<?x16xf32> {
  // expected-error @+1 {{has a rotary width of 10; it must be even and at most the head's 8}}
  %y = lm.rope %x, %t {head_dim = 8 : i64} : tensor<?x16xf32>, tensor<?x10xf32>
  return %y : tensor<?x16xf32>
}

// -----

func.func @attention_c1(%q: tensor<?x24xf32>, %k: tensor<?x16xf32>, %batch: !lm.batch) -> tensor<?x24xf32> {
  // expected-error @+1 {{has 3 query heads over 2 key/value heads, which is no multiple}}
  %o = lm.attention %q, %k, %k, %batch {heads = 3 : i64, kv_heads = 2 : i64, scale = 1.0 : f64} : tensor<?x24xf32>, tensor<?x16xf32>, tensor<?x16xf32> -> tensor<?x24xf32>
  return %o : tensor<?x24xf32>
}

// -----

func.func @attention_c2(%q: tensor<?x24xf32>, %k: tensor<?x16xf32>, %batch: !lm.batch) -> tensor<?x24xf32> {
  // expected-error @+1 {{has 4 heads with keys of 8 and values of 8, but query and output are}}
  %o = lm.attention %q, %k, %k, %batch {heads = 4 : i64, kv_heads = 2 : i64, scale = 1.0 : f64} : tensor<?x24xf32>, tensor<?x16xf32>, tensor<?x16xf32> -> tensor<?x24xf32>
  return %o : tensor<?x24xf32>
}

// -----

func.func @append_c1(%c: !lm.kv<heads = 2, key = 8, value = 8, format = bf16, page = 16, window = 0>, %k: tensor<?x8xf32>, %batch: !lm.batch) {
  // expected-error @+1 {{stores keys and values of}}
  %c1 = lm.kv_append %c, %k, %k, %batch : !lm.kv<heads = 2, key = 8, value = 8, format = bf16, page = 16, window = 0>, tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @paged_c1(%q: tensor<?x24xf32>, %c: !lm.kv<heads = 2, key = 8, value = 8, format = bf16, page = 16, window = 0>, %batch: !lm.batch) -> tensor<?x24xf32> {
  // expected-error @+1 {{has 3 query heads over 2 key/value heads, which is no multiple}}
  %o = lm.paged_attention %q, %c, %batch {heads = 3 : i64, scale = 1.0 : f64} : tensor<?x24xf32>, !lm.kv<heads = 2, key = 8, value = 8, format = bf16, page = 16, window = 0> -> tensor<?x24xf32>
  return %o : tensor<?x24xf32>
}

// -----

func.func @slice_heads_c1(%x: tensor<?x12xf32>) -> tensor<?x7xf32> {
  // expected-error @+1 {{takes 7 of 12 features, which are not 4 heads}}
  %y = lm.slice_heads %x {heads = 4 : i64, begin = 0 : i64} : tensor<?x12xf32> -> tensor<?x7xf32>
  return %y : tensor<?x7xf32>
}

// -----

func.func @slice_heads_c2(%x: tensor<?x12xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{takes 2 channels from 2 on of heads that have 3}}
  %y = lm.slice_heads %x {heads = 4 : i64, begin = 2 : i64} : tensor<?x12xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

func.func @concat_heads_c1(%x: tensor<?x12xf32>, %r: tensor<?x2xf32>) -> tensor<?x14xf32> {
  // expected-error @+1 {{joins rows of 12 and 2 features, which are not 4 heads}}
  %y = lm.concat_heads %x, %r {heads = 4 : i64} : tensor<?x12xf32>, tensor<?x2xf32> -> tensor<?x14xf32>
  return %y : tensor<?x14xf32>
}

// -----

func.func @concat_heads_c2(%x: tensor<?x12xf32>, %r: tensor<?x2xf32>) -> tensor<?x14xf32> {
  // expected-error @+1 {{joins heads to 20 features, but its result has 14}}
  %y = lm.concat_heads %x, %r {heads = 4 : i64, shared} : tensor<?x12xf32>, tensor<?x2xf32> -> tensor<?x14xf32>
  return %y : tensor<?x14xf32>
}
