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
