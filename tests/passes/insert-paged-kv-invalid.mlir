// insert-paged-kv: attention that no cache could serve is refused.
// RUN: quire-opt %s -insert-paged-kv -split-input-file -verify-diagnostics

// A layer's second attention would overwrite the keys of the first.
func.func @twice(%x: tensor<?x16xf32>, %batch: !lm.batch, %layer: index) -> tensor<?x16xf32> {
  %a = lm.attention %x, %x, %x, %batch {heads = 2 : i64, kv_heads = 2 : i64, scale = 1.0 : f64} : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32> -> tensor<?x16xf32>
  // expected-error @+1 {{is a second attention of layer 0}}
  %b = lm.attention %a, %a, %a, %batch {heads = 2 : i64, kv_heads = 2 : i64, scale = 1.0 : f64} : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32> -> tensor<?x16xf32>
  return %b : tensor<?x16xf32>
}
func.func @step(%batch: !lm.batch, %x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %y = lm.layers %x captures(%batch : !lm.batch) kinds [@twice] which [0] indices [0] : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

// So would a layer that runs twice in a step.
func.func @dense(%x: tensor<?x16xf32>, %batch: !lm.batch, %layer: index) -> tensor<?x16xf32> {
  // expected-error @+1 {{is a second attention of layer 3}}
  %a = lm.attention %x, %x, %x, %batch {heads = 2 : i64, kv_heads = 2 : i64, scale = 1.0 : f64} : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32> -> tensor<?x16xf32>
  return %a : tensor<?x16xf32>
}
func.func @step(%batch: !lm.batch, %x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %y = lm.layers %x captures(%batch : !lm.batch) kinds [@dense] which [0, 0] indices [3, 3] : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

func.func @step(%batch: !lm.batch, %x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  // expected-error @+1 {{stands in a function that no lm.layers calls}}
  %a = lm.attention %x, %x, %x, %batch {heads = 2 : i64, kv_heads = 2 : i64, scale = 1.0 : f64} : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32> -> tensor<?x16xf32>
  return %a : tensor<?x16xf32>
}
