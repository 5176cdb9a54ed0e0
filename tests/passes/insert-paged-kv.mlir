// insert-paged-kv: layers with one window and head shapes form a cache group;
// attention among the rows becomes an append and a read of the cache.
// RUN: quire-opt %s -insert-paged-kv="format=f16 page-size=32" | FileCheck %s

// CHECK: module attributes {quire.explain = [
// CHECK-SAME: group @kv_sliding: 2 layers, window 8, f16, 128 bytes a token
// CHECK-SAME: group @kv_global: 1 layers, window 0, f16, 64 bytes a token
// CHECK: lm.cache_group @kv_sliding : !lm.kv<heads = 2, key = 8, value = 8, format = f16, page = 32, window = 8> layers [0, 2]
// CHECK: lm.cache_group @kv_global : !lm.kv<heads = 2, key = 8, value = 8, format = f16, page = 32, window = 0> layers [1]

// CHECK-LABEL: func.func @far
func.func @far(%x: tensor<?x32xf32>, %batch: !lm.batch, %kv: tensor<?x16xf32>, %layer: index) -> tensor<?x32xf32> {
  // CHECK-SAME: %[[X:.*]]: tensor<?x32xf32>, %[[B:.*]]: !lm.batch, %[[KV:.*]]: tensor<?x16xf32>, %[[L:.*]]: index
  // CHECK: %[[C:.*]] = lm.cache @kv_global[%[[L]]]
  // CHECK: %[[A:.*]] = lm.kv_append %[[C]], %[[KV]], %[[KV]], %[[B]]
  // CHECK: lm.paged_attention %[[X]], %[[A]], %[[B]] {heads = 4 : i64, scale = 2.500000e-01 : f64, softcap = 5.000000e+01 : f64}
  %o = lm.attention %x, %kv, %kv, %batch {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.25 : f64, softcap = 50.0 : f64} : tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x16xf32> -> tensor<?x32xf32>
  return %o : tensor<?x32xf32>
}
// CHECK-LABEL: func.func @near
func.func @near(%x: tensor<?x32xf32>, %batch: !lm.batch, %kv: tensor<?x16xf32>, %layer: index) -> tensor<?x32xf32> {
  // CHECK: lm.cache @kv_sliding[
  // CHECK-NOT: lm.attention
  %o = lm.attention %x, %kv, %kv, %batch {heads = 4 : i64, kv_heads = 2 : i64, scale = 0.25 : f64, window = 8 : i64} : tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x16xf32> -> tensor<?x32xf32>
  return %o : tensor<?x32xf32>
}
func.func @step(%batch: !lm.batch, %x: tensor<?x32xf32>, %kv: tensor<?x16xf32>) -> tensor<?x32xf32> {
  %y = lm.layers %x captures(%batch, %kv : !lm.batch, tensor<?x16xf32>) kinds [@near, @far] which [0, 1, 0] indices [0, 1, 2] : tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
