// plan-memory: a launch that names what is not there is refused.
// RUN: quire-opt %s -plan-memory -split-input-file -verify-diagnostics

rt.sequence @step {
  // expected-error @+1 {{names a buffer @nothing that does not exist}}
  rt.launch "l" [#rt.part<"fused_0", {inputs = [@nothing], outputs = [], rowSet = 0, tileRows = 1}>]
}

// -----

rt.sequence @step {
  // expected-error @+1 {{launches an unknown kernel 'guess'}}
  rt.launch "l" [#rt.part<"guess", {}>]
}

// -----

rt.buffer @x f32 rows 16 row_bytes 64
rt.sequence @step {
  // expected-error @+1 {{gives kernel 'gather_logit_rows' no 'out'}}
  rt.launch "l" [#rt.part<"gather_logit_rows", {x = @x, features = 16}>]
}
