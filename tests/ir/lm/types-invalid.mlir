// Types that no tensor or cache can have (lm.weight C1-C2, lm.kv C1-C2), and
// rows that are none.
// RUN: quire-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{a weight has one to three positive dimensions}}
func.func private @weight_c1() -> !lm.weight<[2, 3, 4, 5], f32>

// -----

// expected-error @+1 {{rows of 48 values are not whole q4_k blocks of 256}}
func.func private @weight_c2() -> !lm.weight<[2, 48], q4_k>

// -----

// expected-error @+1 {{must be positive, and its window not negative}}
func.func private @kv_c1() -> !lm.kv<heads = 2, key = 8, value = 8, format = bf16, page = 0, window = 0>

// -----

// expected-error @+1 {{a cache stores f32, f16 or bf16, not q4_0}}
func.func private @kv_c2() -> !lm.kv<heads = 2, key = 8, value = 8, format = q4_0, page = 16, window = 0>

// -----

func.func @rows(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-error @+1 {{must be rows: tensor<?xFxf32>}}
  %y = lm.add %x, %x : tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}
