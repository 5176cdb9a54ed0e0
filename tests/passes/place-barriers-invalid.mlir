// place-barriers: buffers need their place first.
// RUN: quire-opt %s -place-barriers -verify-diagnostics

rt.buffer @x f32 rows 16 row_bytes 64
rt.sequence @step {
  // expected-error @+1 {{names buffer @x, which has no place yet; run plan-memory first}}
  rt.launch "l" [#rt.part<"fused_0", {inputs = [@x], outputs = [], rowSet = 0, tileRows = 1}>]
}
