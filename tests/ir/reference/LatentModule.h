// One layer of latent attention, written by hand in each of its forms: content
// 8, rotary 4 (interleaved as in files), values 6, rank 8, four heads.

#ifndef QUIRE_TESTS_IR_REFERENCE_LATENTMODULE_H
#define QUIRE_TESTS_IR_REFERENCE_LATENTMODULE_H

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

#include <string>

namespace quire::reference::testing {

struct LatentVariant {
  std::string form;  // import, materialised, factored, folded or both
  std::string cache; // its format; empty: no cache (import has none)
  int64_t block = 0; // of prompts that are materialised; `both` asks for it
};

inline constexpr const char kLatentModel[] = R"mlir(
module ATTRIBUTES {
lm.param @embed source "embed" shape [32, 16] formats [f32]
lm.param @q source "q" shape [48, 16] formats [f32]
lm.param @kva source "kva" shape [12, 16] formats [f32]
lm.param @kvb source "kvb" shape [56, 8] formats [f32]
lm.param @o source "o" shape [16, 24] formats [f32]
GROUP
func.func @layer(%x: tensor<?x16xf32>, %batch: !lm.batch, %table: tensor<?x4xf32>, %layer: index) -> tensor<?x16xf32> {
  %wq = lm.load_param @q : !lm.weight<[48, 16], f32>
  %wkva = lm.load_param @kva : !lm.weight<[12, 16], f32>
  %wkvb = lm.load_param @kvb : !lm.weight<[56, 8], f32>
  %wo = lm.load_param @o : !lm.weight<[16, 24], f32>
ATTENTION
  %s = lm.add %x, %d : tensor<?x16xf32>
  return %s : tensor<?x16xf32>
}
func.func @step(%batch: !lm.batch) -> tensor<?x32xf32> {
  %e = lm.load_param @embed : !lm.weight<[32, 16], f32>
  %x = lm.embed %batch, %e : !lm.weight<[32, 16], f32> -> tensor<?x16xf32>
  %t = lm.rope_table %batch {inverse_frequency = array<f32: 1.0, 0.1>} : tensor<?x4xf32>
  %y = lm.layers %x captures(%batch, %t : !lm.batch, tensor<?x4xf32>) kinds [@layer] which [0] indices [0] : tensor<?x16xf32>
  %l = lm.select_logit_rows %y, %batch : tensor<?x16xf32>
  %o = lm.linear %l, %e : tensor<?x16xf32>, !lm.weight<[32, 16], f32> -> tensor<?x32xf32>
  return %o : tensor<?x32xf32>
}
}
)mlir";

inline constexpr const char kImportForm[] = R"mlir(
  %q = lm.linear %x, %wq : tensor<?x16xf32>, !lm.weight<[48, 16], f32> -> tensor<?x48xf32>
  %kva = lm.linear %x, %wkva : tensor<?x16xf32>, !lm.weight<[12, 16], f32> -> tensor<?x12xf32>
  %c = lm.slice_heads %kva {heads = 1 : i64, begin = 0 : i64} : tensor<?x12xf32> -> tensor<?x8xf32>
  %kr = lm.slice_heads %kva {heads = 1 : i64, begin = 8 : i64} : tensor<?x12xf32> -> tensor<?x4xf32>
  %qc = lm.slice_heads %q {heads = 4 : i64, begin = 0 : i64} : tensor<?x48xf32> -> tensor<?x32xf32>
  %qr = lm.slice_heads %q {heads = 4 : i64, begin = 8 : i64} : tensor<?x48xf32> -> tensor<?x16xf32>
  %qt = lm.rope %qr, %table {head_dim = 4 : i64, interleaved} : tensor<?x16xf32>, tensor<?x4xf32>
  %kt = lm.rope %kr, %table {head_dim = 4 : i64, interleaved} : tensor<?x4xf32>, tensor<?x4xf32>
  %kv = lm.linear %c, %wkvb : tensor<?x8xf32>, !lm.weight<[56, 8], f32> -> tensor<?x56xf32>
  %kc = lm.slice_heads %kv {heads = 4 : i64, begin = 0 : i64} : tensor<?x56xf32> -> tensor<?x32xf32>
  %v = lm.slice_heads %kv {heads = 4 : i64, begin = 8 : i64} : tensor<?x56xf32> -> tensor<?x24xf32>
  %qf = lm.concat_heads %qc, %qt {heads = 4 : i64} : tensor<?x32xf32>, tensor<?x16xf32> -> tensor<?x48xf32>
  %kf = lm.concat_heads %kc, %kt {heads = 4 : i64, shared} : tensor<?x32xf32>, tensor<?x4xf32> -> tensor<?x48xf32>
  %a = lm.attention %qf, %kf, %v, %batch {heads = 4 : i64, kv_heads = 4 : i64, scale = 0.3 : f64} : tensor<?x48xf32>, tensor<?x48xf32>, tensor<?x24xf32> -> tensor<?x24xf32>
  %d = lm.linear %a, %wo : tensor<?x24xf32>, !lm.weight<[16, 24], f32> -> tensor<?x16xf32>
)mlir";

/// What the raised and absorbed forms share.
inline constexpr const char kSplit[] = R"mlir(
  %wqc = lm.take_rows %wq {heads = 4 : i64, begin = 0 : i64} : !lm.weight<[48, 16], f32> -> !lm.weight<[32, 16], f32>
  %wqi = lm.take_rows %wq {heads = 4 : i64, begin = 8 : i64} : !lm.weight<[48, 16], f32> -> !lm.weight<[16, 16], f32>
  %wqr = lm.unpermute_rotary %wqi {head_dim = 4 : i64} : !lm.weight<[16, 16], f32>
  %wc = lm.take_rows %wkva {heads = 1 : i64, begin = 0 : i64} : !lm.weight<[12, 16], f32> -> !lm.weight<[8, 16], f32>
  %wki = lm.take_rows %wkva {heads = 1 : i64, begin = 8 : i64} : !lm.weight<[12, 16], f32> -> !lm.weight<[4, 16], f32>
  %wkr = lm.unpermute_rotary %wki {head_dim = 4 : i64} : !lm.weight<[4, 16], f32>
  %uk = lm.take_rows %wkvb {heads = 4 : i64, begin = 0 : i64} : !lm.weight<[56, 8], f32> -> !lm.weight<[4, 8, 8], f32>
  %uv = lm.take_rows %wkvb {heads = 4 : i64, begin = 8 : i64} : !lm.weight<[56, 8], f32> -> !lm.weight<[4, 6, 8], f32>
  %qc = lm.linear %x, %wqc : tensor<?x16xf32>, !lm.weight<[32, 16], f32> -> tensor<?x32xf32>
  %qr = lm.linear %x, %wqr : tensor<?x16xf32>, !lm.weight<[16, 16], f32> -> tensor<?x16xf32>
  %c = lm.linear %x, %wc : tensor<?x16xf32>, !lm.weight<[8, 16], f32> -> tensor<?x8xf32>
  %kr = lm.linear %x, %wkr : tensor<?x16xf32>, !lm.weight<[4, 16], f32> -> tensor<?x4xf32>
  %qt = lm.rope %qr, %table {head_dim = 4 : i64} : tensor<?x16xf32>, tensor<?x4xf32>
  %kt = lm.rope %kr, %table {head_dim = 4 : i64} : tensor<?x4xf32>, tensor<?x4xf32>
APPEND)mlir";

inline constexpr const char kMaterialised[] = R"mlir(
  %a = ATTEND(%qc, %qt) raised by %uk, %uv {heads = 4 : i64, scale = 0.3 : f64} : tensor<?x32xf32>, TYPES, !lm.weight<[4, 8, 8], f32>, !lm.weight<[4, 6, 8], f32> -> tensor<?x24xf32>
  %d = lm.linear %a, %wo : tensor<?x24xf32>, !lm.weight<[16, 24], f32> -> tensor<?x16xf32>
)mlir";

inline constexpr const char kFactored[] = R"mlir(
  %ql = lm.head_linear %qc, %uk {transposed} : tensor<?x32xf32>, !lm.weight<[4, 8, 8], f32> -> tensor<?x32xf32>
  %al = ATTEND(%ql, %qt) {heads = 4 : i64, scale = 0.3 : f64} : tensor<?x32xf32>, TYPES -> tensor<?x32xf32>
  %a = lm.head_linear %al, %uv : tensor<?x32xf32>, !lm.weight<[4, 6, 8], f32> -> tensor<?x24xf32>
  %d = lm.linear %a, %wo : tensor<?x24xf32>, !lm.weight<[16, 24], f32> -> tensor<?x16xf32>
)mlir";

inline constexpr const char kFolded[] = R"mlir(
  %wqs = lm.take_rows %wq {heads = 4 : i64, begin = 0 : i64} : !lm.weight<[48, 16], f32> -> !lm.weight<[4, 8, 16], f32>
  %fk = lm.fold_key %wqs, %uk : !lm.weight<[4, 8, 16], f32>, !lm.weight<[4, 8, 8], f32> -> !lm.weight<[32, 16], f32>
  %fv = lm.fold_value %wo, %uv : !lm.weight<[16, 24], f32>, !lm.weight<[4, 6, 8], f32> -> !lm.weight<[16, 32], f32>
  %ql = lm.linear %x, %fk : tensor<?x16xf32>, !lm.weight<[32, 16], f32> -> tensor<?x32xf32>
  %al = ATTEND(%ql, %qt) {heads = 4 : i64, scale = 0.3 : f64} : tensor<?x32xf32>, TYPES -> tensor<?x32xf32>
  %d = lm.linear %al, %fv : tensor<?x32xf32>, !lm.weight<[16, 32], f32> -> tensor<?x16xf32>
)mlir";

/// Each row in its own form: materialised, or factored.
inline constexpr const char kBoth[] = R"mlir(
  %mc = lm.select_form materialised %qc, %batch : tensor<?x32xf32>
  %mt = lm.select_form materialised %qt, %batch : tensor<?x16xf32>
  %lc = lm.select_form latent %qc, %batch : tensor<?x32xf32>
  %lt = lm.select_form latent %qt, %batch : tensor<?x16xf32>
  %am = ATTEND(%mc, %mt) raised by %uk, %uv rows materialised {heads = 4 : i64, scale = 0.3 : f64} : tensor<?x32xf32>, TYPES, !lm.weight<[4, 8, 8], f32>, !lm.weight<[4, 6, 8], f32> -> tensor<?x24xf32>
  %ql = lm.head_linear %lc, %uk {transposed} : tensor<?x32xf32>, !lm.weight<[4, 8, 8], f32> -> tensor<?x32xf32>
  %all = ATTEND(%ql, %lt) rows latent {heads = 4 : i64, scale = 0.3 : f64} : tensor<?x32xf32>, TYPES -> tensor<?x32xf32>
  %al = lm.head_linear %all, %uv : tensor<?x32xf32>, !lm.weight<[4, 6, 8], f32> -> tensor<?x24xf32>
  %a = lm.merge_forms %am, %al, %batch : tensor<?x24xf32>
  %d = lm.linear %a, %wo : tensor<?x24xf32>, !lm.weight<[16, 24], f32> -> tensor<?x16xf32>
)mlir";

inline constexpr const char kAppend[] = R"mlir(
  %c0 = lm.cache @global[%layer] : KV
  %c1 = lm.kv_append %c0, %c, %kt, %batch : KV, tensor<?x8xf32>, tensor<?x4xf32>
)mlir";

/// Puts an attention op and its types around the queries ATTEND stands with.
inline std::string attending(std::string text, bool cached) {
  if (cached) {
    return absl::StrReplaceAll(text, {{"ATTEND(", "lm.paged_latent_attention "},
                                      {"t) ", "t, %c1, %batch "},
                                      {"TYPES", "tensor<?x16xf32>, KV"}});
  }
  return absl::StrReplaceAll(
      text, {{"ATTEND(", "lm.latent_attention "},
             {"t) ", "t, %c, %kt, %batch "},
             {"TYPES", "tensor<?x16xf32>, tensor<?x8xf32>, tensor<?x4xf32>"}});
}

inline std::string latentModel(const LatentVariant &variant) {
  bool cached = !variant.cache.empty();
  std::string attention = variant.form == "materialised" ? kMaterialised
                          : variant.form == "factored"   ? kFactored
                          : variant.form == "folded"     ? kFolded
                                                         : kBoth;
  attention = variant.form == "import"
                  ? kImportForm
                  : absl::StrCat(kSplit, attending(attention, cached));
  attention =
      absl::StrReplaceAll(attention, {{"APPEND", cached ? kAppend : ""}});
  std::string text = absl::StrReplaceAll(
      kLatentModel,
      {{"ATTRIBUTES", variant.block > 0
                          ? absl::StrCat("attributes {lm.materialised_block = ",
                                         variant.block, " : i64}")
                          : ""},
       {"GROUP", cached ? "lm.cache_group @global : KV layers [0]" : ""},
       {"ATTENTION", attention}});
  return absl::StrReplaceAll(
      text, {{"KV", absl::StrCat("!lm.kv<latent = 8, rotary = 4, format = ",
                                 variant.cache, ", page = 4, window = 0>")}});
}

} // namespace quire::reference::testing

#endif
