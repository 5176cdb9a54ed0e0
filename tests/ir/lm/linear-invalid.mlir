// Products whose widths do not meet are refused (lm.linear C1-C3,
// lm.fused_linear C1-C3, lm.gated_linear C1).
// RUN: quire-opt %s -split-input-file -verify-diagnostics

lm.param @w source "w" shape [8, 32] formats [f32]
func.func @c1(%x: tensor<?x16xf32>) -> tensor<?x8xf32> {
  %w = lm.load_param @w : !lm.weight<[8, 32], f32>
  // expected-error @+1 {{has rows of 16 features but a weight with 32 inputs}}
  %y = lm.linear %x, %w : tensor<?x16xf32>, !lm.weight<[8, 32], f32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

lm.param @w source "w" shape [8, 32] formats [f32]
func.func @c2(%x: tensor<?x32xf32>) -> tensor<?x9xf32> {
  %w = lm.load_param @w : !lm.weight<[8, 32], f32>
  // expected-error @+1 {{gives 9 features but its weight has 8 outputs}}
  %y = lm.linear %x, %w : tensor<?x32xf32>, !lm.weight<[8, 32], f32> -> tensor<?x9xf32>
  return %y : tensor<?x9xf32>
}

// -----

lm.param @w source "w" shape [8, 32] formats [f32]
lm.param @b source "b" shape [7] formats [f32]
func.func @c3(%x: tensor<?x32xf32>) -> tensor<?x8xf32> {
  %w = lm.load_param @w : !lm.weight<[8, 32], f32>
  %b = lm.load_param @b : !lm.weight<[7], f32>
  // expected-error @+1 {{needs a bias that is a vector of 8 features}}
  %y = lm.linear %x, %w bias %b : tensor<?x32xf32>, !lm.weight<[8, 32], f32>, !lm.weight<[7], f32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

lm.param @w source "w" shape [8, 32] formats [f32]
func.func @fused_c1(%x: tensor<?x32xf32>) -> tensor<?x8xf32> {
  %w = lm.load_param @w : !lm.weight<[8, 32], f32>
  // expected-error @+1 {{has 2 weights, 2 entries of has_bias and 1 results; they must be as many}}
  %y = lm.fused_linear %x, (%w, %w) {has_bias = array<i1: false, false>} : tensor<?x32xf32>, (!lm.weight<[8, 32], f32>, !lm.weight<[8, 32], f32>) -> (tensor<?x8xf32>)
  return %y : tensor<?x8xf32>
}

// -----

lm.param @w source "w" shape [8, 32] formats [f32]
func.func @fused_c2(%x: tensor<?x32xf32>) -> tensor<?x8xf32> {
  %w = lm.load_param @w : !lm.weight<[8, 32], f32>
  // expected-error @+1 {{has 0 biases where has_bias asks for 1}}
  %y = lm.fused_linear %x, (%w) {has_bias = array<i1: true>} : tensor<?x32xf32>, (!lm.weight<[8, 32], f32>) -> (tensor<?x8xf32>)
  return %y : tensor<?x8xf32>
}

// -----

lm.param @w source "w" shape [8, 32] formats [f32]
func.func @fused_c3(%x: tensor<?x16xf32>) -> tensor<?x8xf32> {
  %w = lm.load_param @w : !lm.weight<[8, 32], f32>
  // The model's name of the op is in the message.
  // expected-error@unknown {{in 'layers.attn_q': has rows of 16 features but a weight with 32 inputs}}
  %y = lm.fused_linear %x, (%w) {has_bias = array<i1: false>} : tensor<?x16xf32>, (!lm.weight<[8, 32], f32>) -> (tensor<?x8xf32>) loc("layers.attn_q")
  return %y : tensor<?x8xf32>
}

// -----

lm.param @g source "g" shape [8, 32] formats [f32]
lm.param @u source "u" shape [9, 32] formats [f32]
func.func @gated_c1(%x: tensor<?x32xf32>) -> tensor<?x8xf32> {
  %g = lm.load_param @g : !lm.weight<[8, 32], f32>
  %u = lm.load_param @u : !lm.weight<[9, 32], f32>
  // expected-error @+1 {{needs gate and up of one shape}}
  %y = lm.gated_linear silu %x, %g, %u : tensor<?x32xf32>, !lm.weight<[8, 32], f32>, !lm.weight<[9, 32], f32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

func.func @quantize_c1(%x: tensor<?x48xf32>) -> !lm.activation<48, int8_by_32> {
  // expected-error @+1 {{rounds 48 features, which are not whole groups of 32}}
  %y = lm.quantize_activation %x : tensor<?x48xf32> -> !lm.activation<48, int8_by_32>
  return %y : !lm.activation<48, int8_by_32>
}

// -----

lm.param @n source "n" shape [24] formats [f32]
func.func @norm_c1(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %n = lm.load_param @n : !lm.weight<[24], f32>
  // expected-error @+1 {{they must be whole sections of a vector's width}}
  %y = lm.rms_norm %x, %n {epsilon = 1.0e-5 : f64} : tensor<?x32xf32>, !lm.weight<[24], f32>
  return %y : tensor<?x32xf32>
}
