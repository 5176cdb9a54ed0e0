// A step of `rt` parses, verifies and prints as it was written.
// RUN: quire-opt %s | quire-opt | FileCheck %s

lm.param @attn_q source "layers.{}.q.weight" shape [32, 32] formats [q8_0] layers 2

// CHECK: rt.buffer @x f32 rows 512 row_bytes 128 offset 0
rt.buffer @x f32 rows 512 row_bytes 128 offset 0
// CHECK: rt.buffer @a int8_by_32 rows 512 row_bytes 64
rt.buffer @a int8_by_32 rows 512 row_bytes 64

// CHECK: rt.weight @dense.attn_q q8_0 [32, 32] bytes 1088 layers [0, 1] {
rt.weight @dense.attn_q q8_0 [32, 32] bytes 1088 layers [0, 1] {
^bb0(%layer: index):
  %w = lm.load_param @attn_q[%layer] : !lm.weight<[32, 32], q8_0>
  // CHECK: rt.pack %{{.*}} : !lm.weight<[32, 32], q8_0>
  rt.pack %w : !lm.weight<[32, 32], q8_0>
}

// CHECK: rt.cache_group @global bf16 number 0 kv_heads 2 key_dim 8 value_dim 8 page 16 window 0 layers [0, 1]
rt.cache_group @global bf16 number 0 kv_heads 2 key_dim 8 value_dim 8 page 16 window 0 layers [0, 1]

// CHECK-LABEL: rt.sequence @dense {
rt.sequence @dense {
  // CHECK: rt.launch "attn_q" [#rt.part<"linear_q8_0", {activation = @a, bias, inputs = 32 : i64
  rt.launch "attn_q" [#rt.part<"linear_q8_0", {activation = @a, weight = @dense.attn_q, bias, out = @x, inputs = 32 : i64, outputs = 32 : i64, outStride = 32 : i64, rowSet = 0 : i64}>]
  // CHECK: rt.barrier
  rt.barrier
}

rt.sequence @step {
  // CHECK: rt.launch "rope" [#rt.part<"rope_table", {half = 2 : i64, inverseFrequency = array<f32: 1.000000e+00, 5.000000e-01>, out = @x}>]
  rt.launch "rope" [#rt.part<"rope_table", {inverseFrequency = array<f32: 1.0, 0.5>, out = @x, half = 2 : i64}>]
  // CHECK: rt.loop kinds [@dense] which [0, 0] indices [0, 1]
  rt.loop kinds [@dense] which [0, 0] indices [0, 1]
}
