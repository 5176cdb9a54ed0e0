// lower-lm-to-rt: what one buffer for the layers' rows cannot hold is refused,
// and so are ops without a kernel.
// RUN: quire-opt %s -lower-lm-to-rt -split-input-file -verify-diagnostics

func.func @dense(%x: tensor<?x16xf32>, %batch: !lm.batch, %layer: index) -> tensor<?x16xf32> {
  // expected-error @+1 {{has no kernel on this target}}
  %a = lm.attention %x, %x, %x, %batch {heads = 2 : i64, kv_heads = 2 : i64, scale = 1.0 : f64} : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32> -> tensor<?x16xf32>
  %s = lm.scale %a {by = 2.0 : f64} : tensor<?x16xf32>
  return %s : tensor<?x16xf32>
}
func.func @step(%batch: !lm.batch, %x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %y = lm.layers %x captures(%batch : !lm.batch) kinds [@dense] which [0] indices [0] : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

// The rows as they came in are gone when the layer's result is written.
func.func @dense(%x: tensor<?x16xf32>, %w: !lm.weight<[16], f32>, %layer: index) -> tensor<?x16xf32> {
  %s = lm.scale %x {by = 2.0 : f64} : tensor<?x16xf32>
  // expected-error @+1 {{reads the layer's input as late as the layer's result is written}}
  %a = lm.add %s, %x : tensor<?x16xf32>
  return %a : tensor<?x16xf32>
}
func.func @step(%w: !lm.weight<[16], f32>, %x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %y = lm.layers %x captures(%w : !lm.weight<[16], f32>) kinds [@dense] which [0] indices [0] : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

lm.param @w source "w.{}" shape [16, 16] formats [f32] layers 1
func.func @dense(%x: tensor<?x16xf32>, %batch: !lm.batch, %layer: index) -> tensor<?x16xf32> {
  %w = lm.load_param @w[%layer] : !lm.weight<[16, 16], f32>
  %s = lm.linear %x, %w : tensor<?x16xf32>, !lm.weight<[16, 16], f32> -> tensor<?x16xf32>
  %t = lm.scale %s {by = 2.0 : f64} : tensor<?x16xf32>
  return %t : tensor<?x16xf32>
}
func.func @step(%batch: !lm.batch, %x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %y = lm.layers %x captures(%batch : !lm.batch) kinds [@dense] which [0] indices [0] : tensor<?x16xf32>
  // expected-error @+1 {{reads the layers' input behind the layers, which overwrite it}}
  %r = lm.add %y, %x : tensor<?x16xf32>
  return %r : tensor<?x16xf32>
}

// -----

lm.param @w source "w.{}" shape [16, 16] formats [f32] layers 1
func.func @dense(%x: tensor<?x16xf32>, %before: tensor<?x16xf32>, %layer: index) -> tensor<?x16xf32> {
  %w = lm.load_param @w[%layer] : !lm.weight<[16, 16], f32>
  %s = lm.linear %x, %w : tensor<?x16xf32>, !lm.weight<[16, 16], f32> -> tensor<?x16xf32>
  %t = lm.scale %s {by = 2.0 : f64} : tensor<?x16xf32>
  return %t : tensor<?x16xf32>
}
func.func @step(%batch: !lm.batch, %x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  // expected-error @+1 {{captures the rows that its layers overwrite}}
  %y = lm.layers %x captures(%x : tensor<?x16xf32>) kinds [@dense] which [0] indices [0] : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
