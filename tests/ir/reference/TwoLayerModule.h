// A two-layer model, written by hand, with and without a cache, and
// parameters drawn from a fixed generator.

#ifndef QUIRE_TESTS_IR_REFERENCE_TWOLAYERMODULE_H
#define QUIRE_TESTS_IR_REFERENCE_TWOLAYERMODULE_H

#include "ir/reference/ParamSource.h"

#include "absl/strings/str_replace.h"

#include <string>

namespace quire::reference::testing {

/// Values in [-0.5, 0.5) that follow from the parameter's name and layer.
class DrawnParams : public ParamSource {
public:
  llvm::FailureOr<Weight> load(lm::ParamOp param, int64_t layer) override {
    Weight weight;
    weight.shape.assign(param.getShape().begin(), param.getShape().end());
    int64_t count = 1;
    for (int64_t size : weight.shape) {
      count *= size;
    }
    uint64_t state = 1469598103934665603u + 977 * (layer + 2);
    for (char c : param.getSymName()) {
      state = (state ^ c) * 1099511628211u;
    }
    for (int64_t i = 0; i < count; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      weight.values.push_back((state >> 40) / 16777216.0f - 0.5f);
    }
    return weight;
  }
};

inline constexpr const char kModel[] = R"mlir(
lm.param @embed source "embed" shape [32, 16] formats [f32]
lm.param @norm source "layers.{}.norm" shape [16] formats [f32] layers 2
lm.param @q source "layers.{}.q" shape [16, 16] formats [f32] layers 2
lm.param @k source "layers.{}.k" shape [8, 16] formats [f32] layers 2
lm.param @v source "layers.{}.v" shape [8, 16] formats [f32] layers 2
lm.param @o source "layers.{}.o" shape [16, 16] formats [f32] layers 2
GROUP
func.func @dense(%x: tensor<?x16xf32>, %batch: !lm.batch, %table: tensor<?x4xf32>, %layer: index) -> tensor<?x16xf32> {
  %norm = lm.load_param @norm[%layer] : !lm.weight<[16], f32>
  %wq = lm.load_param @q[%layer] : !lm.weight<[16, 16], f32>
  %wk = lm.load_param @k[%layer] : !lm.weight<[8, 16], f32>
  %wv = lm.load_param @v[%layer] : !lm.weight<[8, 16], f32>
  %wo = lm.load_param @o[%layer] : !lm.weight<[16, 16], f32>
  %y = lm.rms_norm %x, %norm {epsilon = 1.0e-5 : f64} : tensor<?x16xf32>, !lm.weight<[16], f32>
  %q = lm.linear %y, %wq : tensor<?x16xf32>, !lm.weight<[16, 16], f32> -> tensor<?x16xf32>
  %k = lm.linear %y, %wk : tensor<?x16xf32>, !lm.weight<[8, 16], f32> -> tensor<?x8xf32>
  %v = lm.linear %y, %wv : tensor<?x16xf32>, !lm.weight<[8, 16], f32> -> tensor<?x8xf32>
  %qr = lm.rope %q, %table {head_dim = 4 : i64} : tensor<?x16xf32>, tensor<?x4xf32>
  %kr = lm.rope %k, %table {head_dim = 4 : i64} : tensor<?x8xf32>, tensor<?x4xf32>
  ATTENTION
  %d = lm.linear %a, %wo : tensor<?x16xf32>, !lm.weight<[16, 16], f32> -> tensor<?x16xf32>
  %s = lm.add %x, %d : tensor<?x16xf32>
  return %s : tensor<?x16xf32>
}
func.func @step(%batch: !lm.batch) -> tensor<?x32xf32> {
  %e = lm.load_param @embed : !lm.weight<[32, 16], f32>
  %x = lm.embed %batch, %e : !lm.weight<[32, 16], f32> -> tensor<?x16xf32>
  %t = lm.rope_table %batch {inverse_frequency = array<f32: 1.0, 0.1>} : tensor<?x4xf32>
  %y = lm.layers %x captures(%batch, %t : !lm.batch, tensor<?x4xf32>) kinds [@dense] which [0, 0] indices [0, 1] : tensor<?x16xf32>
  %l = lm.select_logit_rows %y, %batch : tensor<?x16xf32>
  %o = lm.linear %l, %e : tensor<?x16xf32>, !lm.weight<[32, 16], f32> -> tensor<?x32xf32>
  return %o : tensor<?x32xf32>
}
)mlir";

/// Before insert-paged-kv.
inline std::string withoutCache(int64_t window) {
  return absl::StrReplaceAll(
      kModel,
      {{"GROUP", ""},
       {"ATTENTION",
        absl::StrReplaceAll(
            "%a = lm.attention %qr, %kr, %v, %batch {heads = 4 : i64, "
            "kv_heads = 2 : i64, scale = 0.5 : f64, window = W : i64} : "
            "tensor<?x16xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> "
            "tensor<?x16xf32>",
            {{"W", std::to_string(window)}})}});
}

/// After it, with pages of four tokens.
inline std::string withCache(const std::string &format, int64_t window) {
  std::string type =
      "!lm.kv<heads = 2, key = 4, value = 4, format = " + format +
      ", page = 4, window = " + std::to_string(window) + ">";
  return absl::StrReplaceAll(
      absl::StrReplaceAll(
          kModel,
          {{"GROUP", "lm.cache_group @global : KV layers [0, 1]"},
           {"ATTENTION",
            "%c = lm.cache @global[%layer] : KV\n"
            "%c1 = lm.kv_append %c, %kr, %v, %batch : KV, tensor<?x8xf32>, "
            "tensor<?x8xf32>\n"
            "%a = lm.paged_attention %qr, %c1, %batch {heads = 4 : i64, scale "
            "= 0.5 : f64} : tensor<?x16xf32>, KV -> tensor<?x16xf32>"}}),
      {{"KV", type}});
}

} // namespace quire::reference::testing

#endif
