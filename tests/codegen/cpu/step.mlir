// The step function: launches, barriers and the layer loop over a table.
// RUN: quire-emit %s --step | FileCheck %s

rt.buffer @x f32 rows 8 row_bytes 384 offset 0
rt.buffer @y f32 rows 8 row_bytes 384 offset 3072
rt.buffer @logits f32 rows 8 row_bytes 512
rt.weight @table f32 [128, 96] bytes 49152 layers [] {
^bb0(%layer: index):
  %w = lm.load_param @embed : !lm.weight<[128, 96], f32>
  rt.pack %w : !lm.weight<[128, 96], f32>
}
rt.weight @dense.norm f32 [96] bytes 384 layers [0, 2] {
^bb0(%layer: index):
  %w = lm.load_param @norm[%layer] : !lm.weight<[96], f32>
  rt.pack %w : !lm.weight<[96], f32>
}
rt.weight @other.norm f32 [96] bytes 384 layers [1] {
^bb0(%layer: index):
  %w = lm.load_param @norm[%layer] : !lm.weight<[96], f32>
  rt.pack %w : !lm.weight<[96], f32>
}
lm.param @embed source "embed" shape [128, 96] formats [f32]
lm.param @norm source "layers.{}.norm" shape [96] formats [f32] layers 3
rt.cache_group @global f32 number 0 kv_heads 1 key_dim 96 value_dim 96 page 16 window 0 layers [0, 2]
rt.cache_group @local f32 number 1 kv_heads 1 key_dim 96 value_dim 96 page 16 window 32 layers [1]

func.func @fused_0(%a: tensor<?x96xf32>) -> tensor<?x96xf32> {
  %0 = lm.scale %a {by = 2.0 : f64} : tensor<?x96xf32>
  return %0 : tensor<?x96xf32>
}

// Sections start on pages: the table, then each layer.
// CHECK-DAG: @offsets.dense.0 = private constant [1 x i64] [i64 49152]
// CHECK-DAG: @offsets.other.1 = private constant [1 x i64] [i64 53248]
// CHECK-DAG: @offsets.dense.2 = private constant [1 x i64] [i64 57344]
// CHECK-DAG: @layers = private constant [3 x { ptr, { ptr, i64, i64 } }] [{{.*}} { ptr @sequence.dense, { ptr, i64, i64 } { ptr @offsets.dense.0, i64 0, i64 0 } }, {{.*}} { ptr @sequence.other, { ptr, i64, i64 } { ptr @offsets.other.1, i64 1, i64 0 } }, {{.*}} { ptr @sequence.dense, { ptr, i64, i64 } { ptr @offsets.dense.2, i64 2, i64 1 } }]

// CHECK: define dso_local i32 @quire_abi_version()

// CHECK-LABEL: define internal void @sequence.dense(
// CHECK: call void %launch(ptr %worker, i32 0, ptr @tiles.dense.attn_norm, ptr @tile.dense.attn_norm, ptr %step, ptr %layer)
// CHECK: call void %barrier(ptr %worker)
rt.sequence @dense {
  rt.launch "attn_norm" [#rt.part<"rms_norm", {x = @x, delta = unit, weight = @dense.norm, sum = unit, out = @y, quantized = unit, features = 96 : i64, width = 96 : i64, epsilon = 1.0e-5 : f64, group = 0 : i64, rowSet = 0 : i64}>]
  rt.barrier
}
rt.sequence @other {
  rt.launch "scale" [#rt.part<"fused_0", {inputs = [@x], outputs = [@y], rowSet = 0 : i64, tileRows = 4 : i64}>,
                     #rt.part<"rms_norm", {x = @x, delta = unit, weight = @other.norm, sum = unit, out = @y, quantized = unit, features = 96 : i64, width = 96 : i64, epsilon = 1.0e-5 : f64, group = 0 : i64, rowSet = 0 : i64}>]
}

// CHECK-LABEL: define internal void @sequence.step(
// CHECK: call void %launch(ptr %worker, i32 2, ptr @tiles.embed, ptr @tile.embed
// CHECK: loop:
// CHECK: %kind = load ptr, ptr %entry
// CHECK: call void %kind(ptr %step, ptr %api, ptr %worker, ptr %{{.*}})
// CHECK: icmp eq i64 %next, 3
rt.sequence @step {
  rt.launch "embed" [#rt.part<"embed_f32", {weight = @table, out = @x, features = 96 : i64, vocabulary = 128 : i64, scale = 1.0 : f64}>]
  rt.barrier
  rt.loop kinds [@dense, @other] which [0, 1, 0] indices [0, 1, 2]
  rt.launch "head" [#rt.part<"linear_f32", {activation = @y, weight = @table, bias = unit, out = @logits, inputs = 96 : i64, outputs = 128 : i64, outStride = 128 : i64, rowSet = 1 : i64}>]
}

// CHECK: define dso_local void @quire_step(ptr %0, ptr %1, ptr %2)
