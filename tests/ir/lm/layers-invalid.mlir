// Layer loops that do not match their kinds, parameters or caches (lm.layers
// C1-C4, lm.cache_group C1, lm.cache C1).
// RUN: quire-opt %s -split-input-file -verify-diagnostics

func.func @dense(%x: tensor<?x16xf32>, %layer: index) -> tensor<?x16xf32> {
  return %x : tensor<?x16xf32>
}
func.func @c1(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  // expected-error @+1 {{has 1 entries of `which` and 2 of `indices`; they must be as many}}
  %y = lm.layers %x kinds [@dense] which [0] indices [0, 1] : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

func.func @dense(%x: tensor<?x16xf32>, %layer: index) -> tensor<?x16xf32> {
  return %x : tensor<?x16xf32>
}
func.func @c1(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  // expected-error @+1 {{runs kind number 1 of 1}}
  %y = lm.layers %x kinds [@dense] which [1] indices [0] : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

func.func @dense(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  return %x : tensor<?x16xf32>
}
func.func @c2(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  // expected-error @+1 {{runs @dense, which does not take (rows, captures, index) and give rows}}
  %y = lm.layers %x kinds [@dense] which [0] indices [0] : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

lm.param @w source "w.{}" shape [32] formats [f32, f16] layers 2
func.func @dense(%x: tensor<?x16xf32>, %layer: index) -> tensor<?x16xf32> {
  %w = lm.load_param @w[%layer] : !lm.weight<[32], f32>
  return %x : tensor<?x16xf32>
}
func.func @c3(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  // expected-error @+1 {{runs dense for layer 1, where @w is f16 and not f32}}
  %y = lm.layers %x kinds [@dense] which [0, 0] indices [0, 1] : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

lm.param @w source "w.{}" shape [32] formats [f32] layers 2
func.func @dense(%x: tensor<?x16xf32>, %layer: index) -> tensor<?x16xf32> {
  %w = lm.load_param @w[%layer] : !lm.weight<[32], f32>
  return %x : tensor<?x16xf32>
}
func.func @c3(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  // expected-error @+1 {{runs layer 2, which @w does not have}}
  %y = lm.layers %x kinds [@dense] which [0] indices [2] : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

lm.cache_group @global : !lm.kv<heads = 2, key = 8, value = 8, format = bf16, page = 16, window = 0> layers [1]
func.func @dense(%x: tensor<?x16xf32>, %layer: index) -> tensor<?x16xf32> {
  %c = lm.cache @global[%layer] : !lm.kv<heads = 2, key = 8, value = 8, format = bf16, page = 16, window = 0>
  return %x : tensor<?x16xf32>
}
func.func @c4(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  // expected-error @+1 {{runs dense for layer 0, which is not in cache group @global}}
  %y = lm.layers %x kinds [@dense] which [0] indices [0] : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

// expected-error @+1 {{@global needs its layers ascending, without repeats}}
lm.cache_group @global : !lm.kv<heads = 2, key = 8, value = 8, format = bf16, page = 16, window = 0> layers [1, 1]

// -----

lm.cache_group @global : !lm.kv<heads = 2, key = 8, value = 8, format = bf16, page = 16, window = 0> layers [0]
func.func @cache_c1(%layer: index) {
  // expected-error @+1 {{but its group @global is}}
  %c = lm.cache @global[%layer] : !lm.kv<heads = 2, key = 8, value = 8, format = f32, page = 16, window = 0>
  return
}
