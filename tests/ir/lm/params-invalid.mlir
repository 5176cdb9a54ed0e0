// Parameters that name no tensor, and loads that do not match them (lm.param
// C1-C4, lm.load_param C1-C2, lm.embed C1, weight transforms C1).
// RUN: quire-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{@w needs one to three positive dimensions}}
lm.param @w source "w" shape [0] formats [f32]

// -----

// expected-error @+1 {{@w has 2 formats; it needs one, or one for each layer}}
lm.param @w source "w.{}" shape [32] formats [f32, f16] layers 3

// -----

// expected-error @+1 {{belongs exactly where layers are given}}
lm.param @w source "w" shape [32] formats [f32] layers 3

// -----

// expected-error @+1 {{there is no number format 'q9_9'}}
lm.param @w source "w" shape [32] formats [q9_9]

// -----

func.func @load_c1() {
  // expected-error @+1 {{names @w, which is no lm.param}}
  %w = lm.load_param @w : !lm.weight<[32], f32>
  return
}

// -----

lm.param @w source "w" shape [32] formats [f32]
func.func @load_c1() {
  // expected-error @+1 {{but its parameter has shape [32]}}
  %w = lm.load_param @w : !lm.weight<[33], f32>
  return
}

// -----

lm.param @w source "w.{}" shape [32] formats [f32] layers 2
func.func @load_c2() {
  // expected-error @+1 {{needs a layer for a parameter with layers: @w}}
  %w = lm.load_param @w : !lm.weight<[32], f32>
  return
}

// -----

lm.param @w source "w" shape [8, 16] formats [f32]
func.func @embed_c1(%batch: !lm.batch) -> tensor<?x8xf32> {
  %w = lm.load_param @w : !lm.weight<[8, 16], f32>
  // expected-error @+1 {{it needs [vocabulary, features]}}
  %x = lm.embed %batch, %w : !lm.weight<[8, 16], f32> -> tensor<?x8xf32>
  return %x : tensor<?x8xf32>
}

// -----

lm.param @w source "w" shape [12, 32] formats [f32]
func.func @unpermute_c1() {
  %w = lm.load_param @w : !lm.weight<[12, 32], f32>
  // expected-error @+1 {{a head must be even and the rows whole heads}}
  %u = lm.unpermute_rotary %w {head_dim = 8 : i64} : !lm.weight<[12, 32], f32>
  return
}

// -----

lm.param @w source "w" shape [12, 32] formats [f32]
func.func @convert_c1() {
  %w = lm.load_param @w : !lm.weight<[12, 32], f32>
  // expected-error @+1 {{the shape must stay}}
  %u = lm.convert_weight %w : !lm.weight<[12, 32], f32> -> !lm.weight<[32, 12], int8>
  return
}

// -----

// expected-error @+1 {{@w is in no layer: all its formats are none}}
lm.param @w source "w.{}" shape [8, 32] formats [none] layers 2

// -----

// expected-error @+1 {{{expert} stands for the place in a stack, which has three dimensions}}
lm.param @w source "w.{}.{expert}" shape [8, 32] formats [f32] layers 2
