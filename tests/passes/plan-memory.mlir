// plan-memory: buffers share bytes only where they never live together.
// RUN: quire-opt %s -plan-memory -split-input-file | FileCheck %s

// @x and the captured @table live through all layers, also where a kind does
// not read them; the bodies' own @a and @b overlay each other; @after takes
// the place of what is gone.
// CHECK: rt.arena_bytes = 6144
// CHECK: rt.buffer @x f32 rows 16 row_bytes 64 offset [[X:[0-9]+]]
// CHECK-NEXT: rt.buffer @table f32 rows 16 row_bytes 64 offset [[T:[0-9]+]]
// CHECK-NEXT: rt.buffer @a f32 rows 16 row_bytes 256 offset 0
// CHECK-NEXT: rt.buffer @b f32 rows 16 row_bytes 256 offset 0
// CHECK-NEXT: rt.buffer @after f32 rows 16 row_bytes 128 offset 0
// CHECK-NOT: @unused
rt.buffer @x f32 rows 16 row_bytes 64
rt.buffer @table f32 rows 16 row_bytes 64
rt.buffer @a f32 rows 16 row_bytes 256
rt.buffer @b f32 rows 16 row_bytes 256
rt.buffer @after f32 rows 16 row_bytes 128
rt.buffer @unused f32 rows 16 row_bytes 128
rt.sequence @sliding {
  rt.launch "in" [#rt.part<"fused_0", {inputs = [@x, @table], outputs = [@a], rowSet = 0, tileRows = 1}>]
  rt.launch "out" [#rt.part<"fused_1", {inputs = [@a], outputs = [@x], rowSet = 0, tileRows = 1}>]
}
rt.sequence @global {
  rt.launch "in" [#rt.part<"fused_2", {inputs = [@x], outputs = [@b], rowSet = 0, tileRows = 1}>]
  rt.launch "out" [#rt.part<"fused_1", {inputs = [@b], outputs = [@x], rowSet = 0, tileRows = 1}>]
}
rt.sequence @step {
  rt.launch "start" [#rt.part<"fused_3", {inputs = [], outputs = [@x, @table], rowSet = 0, tileRows = 1}>]
  rt.loop kinds [@sliding, @global] which [0, 1, 0] indices [0, 1, 2]
  rt.launch "end" [#rt.part<"fused_4", {inputs = [@x], outputs = [@after], rowSet = 0, tileRows = 1}>]
}

// -----

// What a body writes for the step to read lives through the whole loop: the
// other body must not overwrite it.
// CHECK: rt.arena_bytes = 2048
// CHECK: rt.buffer @tap f32 rows 16 row_bytes 64 offset [[TAP:[0-9]+]]
// CHECK-NOT: rt.buffer @own f32 rows 16 row_bytes 64 offset [[TAP]]
// CHECK: rt.sequence
rt.buffer @tap f32 rows 16 row_bytes 64
rt.buffer @own f32 rows 16 row_bytes 64
rt.sequence @taps {
  rt.launch "nothing" [#rt.part<"fused_0", {inputs = [], outputs = [], rowSet = 0, tileRows = 1}>]
  rt.launch "tap" [#rt.part<"fused_1", {inputs = [], outputs = [@tap], rowSet = 0, tileRows = 1}>]
}
rt.sequence @plain {
  rt.launch "own" [#rt.part<"fused_2", {inputs = [], outputs = [@own], rowSet = 0, tileRows = 1}>]
}
rt.sequence @step {
  rt.loop kinds [@taps, @plain] which [0, 1] indices [0, 1]
  rt.launch "end" [#rt.part<"fused_3", {inputs = [@tap], outputs = [], rowSet = 0, tileRows = 1}>]
}
