// select-kernels: each op that runs gets a kernel and its predicted time.
// RUN: quire-opt %s -select-kernels="read-gbps=10 int8-gops=100" | FileCheck %s

lm.param @w source "w" shape [512, 256] formats [q8_0]

// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<?x256xf32>) -> tensor<?x512xf32> {
  // Descriptions of weights do not run.
  // CHECK: lm.load_param @w : !lm.weight
  %w = lm.load_param @w : !lm.weight<[512, 256], q8_0>
  // CHECK: lm.quantize_activation {{.*}}kernel = {name = "quantize",
  %a = lm.quantize_activation %x : tensor<?x256xf32> -> !lm.activation<256, int8_by_32>
  // One row streams the weight; 512 rows multiply.
  // CHECK: lm.linear {{.*}}kernel = {name = "linear_q8_0", predicted = [{bound = "read", {{.*}}rows = 1 : i64}, {{.*}}, {bound = "multiply", {{.*}}rows = 512 : i64, runner_up = {{.*}}}]}
  %y = lm.linear %a, %w : !lm.activation<256, int8_by_32>, !lm.weight<[512, 256], q8_0> -> tensor<?x512xf32>
  // CHECK: return
  return %y : tensor<?x512xf32>
}

lm.param @stack source "s" shape [64, 512, 256] formats [q8_0]

// A row reads its two experts of 64, many rows read nearly all.
// CHECK-LABEL: func.func @experts
func.func @experts(%a: !lm.activation<256, int8_by_32>, %g: !lm.groups<64, 2>) -> tensor<?x512xf32> {
  %w = lm.load_param @stack : !lm.weight<[64, 512, 256], q8_0>
  // 2 * 139264 bytes at 10 GB/s take 27.85 us.
  // CHECK: lm.expert_linear {{.*}}kernel = {name = "expert_linear_q8_0", predicted = [{bound = "read", microseconds = 27.{{[0-9]*}} : f64, {{.*}}rows = 1 : i64}
  %y = lm.expert_linear %a, %g, %w : !lm.activation<256, int8_by_32>, !lm.groups<64, 2>, !lm.weight<[64, 512, 256], q8_0> -> tensor<?x512xf32>
  return %y : tensor<?x512xf32>
}

// Attention reads 1024 cached tokens: 2 heads * 128 values * 2 bytes * 1024 at
// 10 GB/s take 52.4 us; a window of 256 tokens takes a quarter.
// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<?x256xf32>, %c: !lm.kv<heads = 2, key = 64, value = 64, format = bf16, page = 16, window = 0>, %d: !lm.kv<heads = 2, key = 64, value = 64, format = bf16, page = 16, window = 256>, %b: !lm.batch) -> tensor<?x256xf32> {
  // CHECK: lm.paged_attention {{.*}}predicted = [{bound = "read", microseconds = 52.4{{[0-9]*}} : f64, row_block = 1 : i64, rows = 1 : i64}
  %o = lm.paged_attention %q, %c, %b {heads = 4 : i64, scale = 0.125 : f64} : tensor<?x256xf32>, !lm.kv<heads = 2, key = 64, value = 64, format = bf16, page = 16, window = 0> -> tensor<?x256xf32>
  // CHECK: lm.paged_attention {{.*}}predicted = [{bound = "read", microseconds = 13.1{{[0-9]*}} : f64, row_block = 1 : i64, rows = 1 : i64}
  %p = lm.paged_attention %o, %d, %b {heads = 4 : i64, scale = 0.125 : f64} : tensor<?x256xf32>, !lm.kv<heads = 2, key = 64, value = 64, format = bf16, page = 16, window = 256> -> tensor<?x256xf32>
  return %p : tensor<?x256xf32>
}
