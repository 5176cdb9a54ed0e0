// Routes and products of experts that do not fit together (lm.routes C1,
// lm.route C1-C4, lm.experts C1-C2, lm.combine C1, lm.sigmoid_gate C1).
// RUN: quire-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{routes choose 1 to all of the experts, not 9 of 8}}
func.func private @routes_c1() -> !lm.routes<8, 9>

// -----

func.func @route_c1(%s: tensor<?x8xf32>) {
  // expected-error @+1 {{chooses among 16 experts by scores of 8}}
  %r = lm.route softmax %s : tensor<?x8xf32> -> !lm.routes<16, 2>
  return
}

// -----

func.func @route_c2(%s: tensor<?x8xf32>) {
  // expected-error @+1 {{takes 1 of 3 groups of 8 experts; groups must divide the experts}}
  %r = lm.route softmax %s {groups = 3 : i64} : tensor<?x8xf32> -> !lm.routes<8, 2>
  return
}

// -----

func.func @route_c3(%s: tensor<?x8xf32>) {
  // expected-error @+1 {{takes 3 experts of the 2 that the best groups hold}}
  %r = lm.route softmax %s {groups = 4 : i64} : tensor<?x8xf32> -> !lm.routes<8, 3>
  return
}

// -----

func.func @route_c4(%s: tensor<?x8xf32>) {
  // expected-error @+1 {{scores groups of one expert by their two best}}
  %r = lm.route sigmoid %s by top2 {groups = 8 : i64, top_groups = 4 : i64} : tensor<?x8xf32> -> !lm.routes<8, 3>
  return
}

// -----

lm.param @w source "w" shape [4, 32, 64] formats [f32]
func.func @experts_c1(%x: tensor<?x64xf32>, %r: !lm.routes<8, 2>) {
  %w = lm.load_param @w : !lm.weight<[4, 32, 64], f32>
  // expected-error @+1 {{needs a stack of 8 matrices, not '!lm.weight<[4, 32, 64], f32>'}}
  %y = lm.experts silu %x, %r, %w, %w, %w : tensor<?x64xf32>, !lm.routes<8, 2>, !lm.weight<[4, 32, 64], f32>, !lm.weight<[4, 32, 64], f32>, !lm.weight<[4, 32, 64], f32>
  return
}

// -----

lm.param @w source "w" shape [8, 32, 64] formats [f32]
func.func @experts_c2(%x: tensor<?x64xf32>, %r: !lm.routes<8, 2>) {
  %w = lm.load_param @w : !lm.weight<[8, 32, 64], f32>
  // expected-error @+1 {{turns rows of 32 features into 64 with '!lm.weight<[8, 32, 64], f32>'}}
  %y = lm.experts silu %x, %r, %w, %w, %w : tensor<?x64xf32>, !lm.routes<8, 2>, !lm.weight<[8, 32, 64], f32>, !lm.weight<[8, 32, 64], f32>, !lm.weight<[8, 32, 64], f32>
  return
}

// -----

func.func @combine_c1(%x: tensor<?x64xf32>, %r: !lm.routes<8, 2>, %g: !lm.groups<8, 3>) {
  // expected-error @+1 {{which must agree}}
  %y = lm.combine %x, %r, %g : tensor<?x64xf32>, !lm.routes<8, 2>, !lm.groups<8, 3>
  return
}

// -----

func.func @gate_c1(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{needs a gate of one feature}}
  %y = lm.sigmoid_gate %x, %x : tensor<?x64xf32>, tensor<?x64xf32>
  return
}
