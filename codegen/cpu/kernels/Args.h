// What each hot kernel is called with. Generated code fills one of these
// structs with constants and pointers and calls the kernel's two functions,
//   int64_t <kernel>_tiles(const Args *);
//   void    <kernel>_tile(const Args *, int64_t tile, std::byte *scratch);
// which are inlined there, so that every constant is known where it is used.
//
// Every field is eight bytes wide (a pointer, an int64_t or a double) and the
// order here is the order of codegen/cpu/KernelTable.cpp, which describes the
// fields by name to the emitter; a test holds the two against each other.
//
// Kernels never collapse tokens: what is computed for a row depends on that
// row alone, in an order that does not change with the number of rows, tiles
// or workers.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_ARGS_H
#define QUIRE_CODEGEN_CPU_KERNELS_ARGS_H

#include "runtime/engine/StepAbi.h"

namespace quire::cpu {

/// Which rows a kernel runs over: all, those with logits, those of one form
/// (QuireForm); kPairRows + n: n rows for each of the batch.
enum RowSet : int64_t {
  kBatchRows = 0,
  kLogitRows = 1,
  kLatentRows = 2,
  kMaterialisedRows = 3,
  kPairRows = 64
};

/// out[row] = scale * dequantised embedding row of the row's token.
/// Kernels: embed_<weight format>. The table lies packed as for linear, so
/// that a tied head shares it.
struct EmbedArgs {
  const QuireStep *step;
  const std::byte *weight;
  float *out; // [rows, features]
  int64_t features;
  int64_t vocabulary;
  double scale;
};

/// out[row] = [cos(a_i) for i < half] ++ [sin(a_i) for i < half], both times
/// amplitude, with a_i = f32(position) * inverseFrequency[i] rounded to f32.
/// dynamicContext > 0: NTK-by-position: past that many positions the base is
/// raised as in transformers' "dynamic" rope, from the row's own position.
struct RopeTableArgs {
  const QuireStep *step;
  const float *inverseFrequency; // [half]
  float *out;                    // [rows, 2 * half]
  int64_t half;
  double amplitude;
  int64_t dynamicContext;
  double dynamicBase;
  double dynamicFactor;
};

/// Sum and norm: s = x + delta (delta may be null), then each section of
/// `width` features is divided by its root mean square and multiplied by
/// weight[width]. sum receives s where not null (it may be x itself).
/// out receives the result as f32 where not null, quantized receives it as
/// int8 activations in groups of `group` where not null.
struct RmsNormArgs {
  const QuireStep *step;
  const float *x;      // [rows, features]
  const float *delta;  // [rows, features] or null
  const float *weight; // [width]
  float *sum;          // [rows, features] or null
  float *out;          // [rows, features] or null
  std::byte *quantized;
  int64_t features;
  int64_t width;
  double epsilon;
  int64_t group; // 32 or 256; 0 when quantized is null
  int64_t rowSet;
};

/// int8 activations from f32 ones. Kernel: quantize.
struct QuantizeArgs {
  const QuireStep *step;
  const float *x; // [rows, features]
  std::byte *quantized;
  int64_t features;
  int64_t group;
  int64_t rowSet;
};

/// out[row, n] = sum over k of weight[n, k] * activation[row, k] + bias[n].
/// Kernels: linear_<weight format>. activation is in the format that
/// activationFormatFor(weight format) names.
struct LinearArgs {
  const QuireStep *step;
  const std::byte *activation;
  const std::byte *weight;
  const float *bias; // [outputs] or null
  float *out;        // [rows, outputs], rows outStride floats apart
  int64_t inputs;
  int64_t outputs;
  int64_t outStride;
  int64_t rowSet;
};

/// out[row, n] = f(gate[n] . a) * (up[n] . a). Kernels:
/// gated_linear_<weight format>; f by `activationKind`.
enum ActivationKind : int64_t { kSilu = 0, kGeluTanh = 1, kGelu = 2 };
struct GatedLinearArgs {
  const QuireStep *step;
  const std::byte *activation;
  const std::byte *gate;
  const std::byte *up;
  float *out; // [rows, outputs]
  int64_t inputs;
  int64_t outputs;
  int64_t outStride;
  int64_t activationKind;
  int64_t rowSet;
};

/// Writes each live row's keys and values into its cache slot.
/// Kernels: kv_append_<cache format> (f32, f16, bf16).
struct KvAppendArgs {
  const QuireStep *step;
  const QuireLayer *layer;
  const float *key;   // [rows, kvHeads * keyDim], rows keyStride floats apart
  const float *value; // [rows, kvHeads * valueDim]
  int64_t keyStride;
  int64_t valueStride;
  int64_t group; // cache group
  int64_t kvHeads;
  int64_t keyDim;
  int64_t valueDim;
  int64_t pageSize;
  int64_t groupLayers;
};

/// Paged attention with online softmax over blocks of keys that start at
/// absolute positions (multiples of 64), in ascending order.
/// window > 0: the last `window` positions, the row's own included.
/// softcap > 0: scores become softcap * tanh(score / softcap).
/// Kernels: attention_<cache format>.
struct AttentionArgs {
  const QuireStep *step;
  const QuireLayer *layer;
  const float *query; // [rows, heads * keyDim], rows queryStride floats apart
  float *out;         // [rows, heads * valueDim]
  int64_t queryStride;
  int64_t group;
  int64_t heads;
  int64_t kvHeads;
  int64_t keyDim;
  int64_t valueDim;
  int64_t pageSize;
  int64_t groupLayers;
  int64_t window;
  double scale;
  double softcap;
};

/// Each row's `top` experts by lm.route's rules, ascending. Kernel: route.
enum RouterGate : int64_t { kSoftmaxGate = 0, kSigmoidGate = 1 };
enum GroupScore : int64_t { kGroupMax = 0, kGroupTopTwo = 1 };
struct RouteArgs {
  const QuireStep *step;
  const float *scores; // [rows, experts]
  const float *bias;   // [experts] or null
  std::byte *routes;   // [rows, top] layout::Route
  int64_t experts;
  int64_t top;
  int64_t gate;
  int64_t groups;
  int64_t topGroups;
  int64_t groupScore;
  int64_t normalise;
  double scale;
};

/// The pairs (row, expert) of all rows, sorted. Kernel: group_routes.
struct GroupRoutesArgs {
  const QuireStep *step;
  const std::byte *routes;
  int32_t *pairs; // layout::PairTable
  int64_t experts;
  int64_t top;
};

/// out[pair] = rows[the pair's row], f32 (group 0) or int8 activations in
/// groups of `group`. Kernel: dispatch.
struct DispatchArgs {
  const QuireStep *step;
  const std::byte *rows;
  const int32_t *pairs;
  std::byte *out;
  int64_t experts;
  int64_t top;
  int64_t features;
  int64_t group;
};

/// out[pair, n] = sum over k of weight[the pair's expert, n, k] *
/// activation[pair, k]. Only experts with pairs are read. Kernels:
/// expert_linear_<weight format>.
struct ExpertLinearArgs {
  const QuireStep *step;
  const std::byte *activation; // of pairs
  const int32_t *pairs;
  const std::byte *weight; // packed matrices one after the other
  float *out;              // [pairs, outputs]
  int64_t experts;
  int64_t top;
  int64_t inputs;
  int64_t outputs;
};

/// The same, gated as in GatedLinearArgs. Kernels:
/// expert_gated_linear_<weight format>.
struct ExpertGatedLinearArgs {
  const QuireStep *step;
  const std::byte *activation;
  const int32_t *pairs;
  const std::byte *gate;
  const std::byte *up;
  float *out;
  int64_t experts;
  int64_t top;
  int64_t inputs;
  int64_t outputs;
  int64_t activationKind;
};

/// out[row] = sum of a row's pairs times their weights, in ascending order of
/// expert. Kernel: combine.
struct CombineArgs {
  const QuireStep *step;
  const float *rows; // [pairs, features]
  const std::byte *routes;
  const int32_t *pairs;
  float *out; // [rows, features]
  int64_t experts;
  int64_t top;
  int64_t features;
};

/// out[row, h, o] = sum over i of W_h[o, i] * x[row, h, i]: every head has a
/// matrix of its own, W_h packed as for linear with `outputs` rows of `inputs`.
/// Kernels: head_linear_<weight format>. In head_linear_t_<weight format> W_h
/// is packed with `inputs` rows of `outputs`, and
/// out[row, h, o] = sum over i of W_h[i, o] * x[row, h, i]. Both compute on
/// f32 weights and activations; nothing is rounded.
struct HeadLinearArgs {
  const QuireStep *step;
  const float *x;          // [rows, heads * inputs]
  const std::byte *weight; // packed matrices one after the other
  float *out;              // [rows, heads * outputs]
  int64_t heads;
  int64_t inputs;
  int64_t outputs;
  int64_t rowSet;
};

/// Attention whose heads share the latents and rotary keys in the cache. A
/// position's latent lies where a key would and its rotary key where a value
/// would (KvPage with one head, keyDim = latentDim, valueDim = rotaryDim).
/// score = scale * (queryLatent . latent + queryRotary . rotary key);
/// out = softmax-weighted sum of the latents, blocks as in AttentionArgs.
/// Buffers hold the rows of rowSet only. Kernels:
/// latent_attention_<cache format>.
struct LatentAttentionArgs {
  const QuireStep *step;
  const QuireLayer *layer;
  const float *queryLatent; // [rows, heads * latentDim]
  const float *queryRotary; // [rows, heads * rotaryDim]
  float *out;               // [rows, heads * latentDim]
  int64_t group;
  int64_t heads;
  int64_t latentDim;
  int64_t rotaryDim;
  int64_t pageSize;
  int64_t groupLayers;
  double scale;
  int64_t rowSet; // kBatchRows, kLatentRows or kMaterialisedRows
};

/// The same attention on keys and values that are raised from the latents of
/// the same cache, block by block, in f32: head h's key is
/// (weightKey_h latent) ++ rotary key, its value weightValue_h latent.
/// weightKey holds heads matrices of contentDim rows, weightValue of valueDim
/// rows, all of latentDim inputs. Kernels:
/// materialised_attention_<format of weightKey>.
enum CacheFormat : int64_t { kCacheF32 = 0, kCacheF16 = 1, kCacheBF16 = 2 };
struct MaterialisedAttentionArgs {
  const QuireStep *step;
  const QuireLayer *layer;
  const float *queryContent; // [rows, heads * contentDim]
  const float *queryRotary;  // [rows, heads * rotaryDim]
  const std::byte *weightKey;
  const std::byte *weightValue;
  float *out; // [rows, heads * valueDim]
  int64_t group;
  int64_t heads;
  int64_t contentDim;
  int64_t latentDim;
  int64_t rotaryDim;
  int64_t valueDim;
  int64_t pageSize;
  int64_t groupLayers;
  int64_t cacheFormat; // CacheFormat
  int64_t valueFormat; // NumberFormat of weightValue
  double scale;
  int64_t rowSet; // kBatchRows, kLatentRows or kMaterialisedRows
};

/// out[i] = x[the i-th row of the form], rowSet being kLatentRows or
/// kMaterialisedRows. Kernel: select_form.
struct SelectFormArgs {
  const QuireStep *step;
  const float *x; // [batch rows, features]
  float *out;     // [rows, features]
  int64_t features;
  int64_t rowSet;
};

/// The rows of both forms in the batch's order. Kernel: merge_forms.
struct MergeFormsArgs {
  const QuireStep *step;
  const float *materialised; // [materialised rows, features]
  const float *latent;       // [latent rows, features]
  float *out;                // [batch rows, features]
  int64_t features;
};

/// out[i] = x[logitRow[i]]. Kernel: gather_logit_rows.
struct GatherArgs {
  const QuireStep *step;
  const float *x; // [rows, features]
  float *out;     // [logitRows, features]
  int64_t features;
};

} // namespace quire::cpu

#endif
