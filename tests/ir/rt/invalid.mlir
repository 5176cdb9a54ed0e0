// Buffers, weight slots, launches and loops that nothing could run (rt.buffer
// C1, rt.weight C1-C2, rt.launch C1, rt.loop C1-C2).
// RUN: quire-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{@x needs rows and row_bytes above zero}}
rt.buffer @x f32 rows 0 row_bytes 4

// -----

// expected-error @+1 {{@x lies at 4, which is no multiple of 64}}
rt.buffer @x f32 rows 1 row_bytes 4 offset 4

// -----

lm.param @w source "w.{}" shape [32] formats [bf16] layers 1
// expected-error @+1 {{@s must end in rt.pack of a weight of its shape}}
rt.weight @s f32 [64] bytes 256 layers [0] {
^bb0(%layer: index):
  %w = lm.load_param @w[%layer] : !lm.weight<[32], bf16>
  rt.pack %w : !lm.weight<[32], bf16>
}

// -----

lm.param @w source "w.{}" shape [32] formats [bf16] layers 1
// A vector is packed as f32 whatever it was.
// expected-error @+1 {{@s is bf16 but packs}}
rt.weight @s bf16 [32] bytes 64 layers [0] {
^bb0(%layer: index):
  %w = lm.load_param @w[%layer] : !lm.weight<[32], bf16>
  rt.pack %w : !lm.weight<[32], bf16>
}

// -----

lm.param @w source "w" shape [32] formats [bf16]
// expected-error @+1 {{@s takes one argument, the layer, an index}}
rt.weight @s f32 [32] bytes 128 layers [] {
  %w = lm.load_param @w : !lm.weight<[32], bf16>
  rt.pack %w : !lm.weight<[32], bf16>
}

// -----

rt.sequence @step {
  // expected-error @+1 {{"attn" needs at least one part}}
  rt.launch "attn" []
}

// -----

rt.sequence @dense {
}
rt.sequence @step {
  // expected-error @+1 {{runs kind number 1 of 1}}
  rt.loop kinds [@dense] which [0, 1] indices [0, 1]
}

// -----

rt.sequence @step {
  // expected-error @+1 {{runs @dense, which is no rt.sequence}}
  rt.loop kinds [@dense] which [0] indices [0]
}
