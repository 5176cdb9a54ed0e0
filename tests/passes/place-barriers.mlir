// place-barriers: a launch waits only for bytes and pages that others touch.
// RUN: quire-opt %s -place-barriers -split-input-file | FileCheck %s

// @b lies over @a's bytes, so that names alone would not tell; @c is apart.
rt.buffer @a f32 rows 16 row_bytes 64 offset 0
rt.buffer @b f32 rows 8 row_bytes 64 offset 512
rt.buffer @c f32 rows 16 row_bytes 64 offset 1024
rt.buffer @logits f32 rows 16 row_bytes 64
// CHECK-LABEL: rt.sequence @dense
rt.sequence @dense {
  // A body starts behind a barrier: the one before it may have just ended.
  // CHECK-NEXT: rt.barrier
  // CHECK-NEXT: rt.launch "first"
  rt.launch "first" [#rt.part<"fused_0", {inputs = [], outputs = [@a], rowSet = 0, tileRows = 1}>]
  // CHECK-NEXT: rt.launch "apart"
  rt.launch "apart" [#rt.part<"fused_0", {inputs = [], outputs = [@c], rowSet = 0, tileRows = 1}>]
  // CHECK-NEXT: rt.barrier
  // CHECK-NEXT: rt.launch "over"
  rt.launch "over" [#rt.part<"fused_0", {inputs = [], outputs = [@b], rowSet = 0, tileRows = 1}>]
  // Two readers need not wait for each other.
  // CHECK-NEXT: rt.launch "reads c"
  rt.launch "reads c" [#rt.part<"fused_0", {inputs = [@c], outputs = [], rowSet = 0, tileRows = 1}>]
  // CHECK-NEXT: rt.launch "reads c too"
  rt.launch "reads c too" [#rt.part<"fused_0", {inputs = [@c], outputs = [], rowSet = 0, tileRows = 1}>]
  // A writer waits for readers.
  // CHECK-NEXT: rt.barrier
  // CHECK-NEXT: rt.launch "writes c"
  rt.launch "writes c" [#rt.part<"fused_0", {inputs = [], outputs = [@c], rowSet = 0, tileRows = 1}>]
}
// CHECK-LABEL: rt.sequence @step
rt.sequence @step {
  // CHECK-NEXT: rt.launch "start"
  rt.launch "start" [#rt.part<"fused_0", {inputs = [], outputs = [@a], rowSet = 0, tileRows = 1}>]
  // CHECK-NEXT: rt.loop
  rt.loop kinds [@dense] which [0] indices [0]
  // CHECK-NEXT: rt.barrier
  // CHECK-NEXT: rt.launch "end"
  rt.launch "end" [#rt.part<"fused_0", {inputs = [@c], outputs = [@logits], rowSet = 0, tileRows = 1}>]
  // The step is over when its logits are.
  // CHECK-NEXT: rt.barrier
  // CHECK-NEXT: }
}

// -----

// Attention waits for the append to its own group, not to another.
rt.buffer @k f32 rows 16 row_bytes 64 offset 0
rt.buffer @q f32 rows 16 row_bytes 64 offset 1024
rt.buffer @o f32 rows 16 row_bytes 64 offset 2048
// CHECK-LABEL: rt.sequence @step
rt.sequence @step {
  rt.launch "append 0" [#rt.part<"kv_append_f32", {key = @k, value = @k, keyStride = 16, valueStride = 16, group = 0, kvHeads = 1, keyDim = 16, valueDim = 16, pageSize = 16, groupLayers = 1}>]
  // CHECK: rt.launch "append 0"
  // CHECK-NEXT: rt.launch "attend 1"
  rt.launch "attend 1" [#rt.part<"attention_f32", {query = @q, out = @o, queryStride = 16, group = 1, heads = 1, kvHeads = 1, keyDim = 16, valueDim = 16, pageSize = 16, groupLayers = 1, window = 0, scale = 1.0, softcap = 0.0}>]
  // CHECK-NEXT: rt.barrier
  // CHECK-NEXT: rt.launch "attend 0"
  rt.launch "attend 0" [#rt.part<"attention_f32", {query = @q, out = @o, queryStride = 16, group = 0, heads = 1, kvHeads = 1, keyDim = 16, valueDim = 16, pageSize = 16, groupLayers = 1, window = 0, scale = 1.0, softcap = 0.0}>]
}
