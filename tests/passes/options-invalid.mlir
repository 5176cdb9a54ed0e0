// Options that name nothing known are refused, with what there is.
// RUN: not quire-opt %s -insert-paged-kv=format=fp8 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not quire-opt %s -insert-paged-kv=page-size=0 2>&1 | FileCheck %s --check-prefix=PAGE
// RUN: not quire-opt %s -quantize-weights=to=int2 2>&1 | FileCheck %s --check-prefix=WEIGHT
// RUN: not quire-opt %s -lower-lm-to-rt 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: not quire-opt %s -plan-memory 2>&1 | FileCheck %s --check-prefix=SEQUENCE

// FORMAT: cache format 'fp8' is not supported; use bf16, f16 or f32
// PAGE: page size 0 is out of range; it must lie between 1 and 1024 tokens
// WEIGHT: weight format 'int2' is not supported; use keep, f32, bf16, int8, int4 or int4a
// STEP: has no function @step
// SEQUENCE: has no sequence @step
module {
}
