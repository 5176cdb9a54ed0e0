// Every kernel by name, with the struct it is called with. Linear kernels
// come per weight format, attention and cache writes per cache format.

#ifndef QUIRE_CODEGEN_CPU_KERNELS_KERNELLIST_H
#define QUIRE_CODEGEN_CPU_KERNELS_KERNELLIST_H

#define QUIRE_KERNELS_OF_WEIGHT_FORMAT(X, format)                              \
  X(embed_##format, EmbedArgs)                                                 \
  X(linear_##format, LinearArgs)                                               \
  X(gated_linear_##format, GatedLinearArgs)                                    \
  X(expert_linear_##format, ExpertLinearArgs)                                  \
  X(expert_gated_linear_##format, ExpertGatedLinearArgs)                       \
  X(head_linear_##format, HeadLinearArgs)                                      \
  X(head_linear_t_##format, HeadLinearArgs)                                    \
  X(materialised_attention_##format, MaterialisedAttentionArgs)

#define QUIRE_KERNELS_OF_CACHE_FORMAT(X, format)                               \
  X(kv_append_##format, KvAppendArgs)                                          \
  X(attention_##format, AttentionArgs)                                         \
  X(latent_attention_##format, LatentAttentionArgs)

#define QUIRE_KERNELS(X)                                                       \
  X(rope_table, RopeTableArgs)                                                 \
  X(rms_norm, RmsNormArgs)                                                     \
  X(quantize, QuantizeArgs)                                                    \
  X(gather_logit_rows, GatherArgs)                                             \
  X(route, RouteArgs)                                                          \
  X(group_routes, GroupRoutesArgs)                                             \
  X(dispatch, DispatchArgs)                                                    \
  X(combine, CombineArgs)                                                      \
  X(select_form, SelectFormArgs)                                               \
  X(merge_forms, MergeFormsArgs)                                               \
  QUIRE_KERNELS_OF_CACHE_FORMAT(X, f32)                                        \
  QUIRE_KERNELS_OF_CACHE_FORMAT(X, f16)                                        \
  QUIRE_KERNELS_OF_CACHE_FORMAT(X, bf16)                                       \
  QUIRE_KERNELS_OF_WEIGHT_FORMAT(X, f32)                                       \
  QUIRE_KERNELS_OF_WEIGHT_FORMAT(X, f16)                                       \
  QUIRE_KERNELS_OF_WEIGHT_FORMAT(X, bf16)                                      \
  QUIRE_KERNELS_OF_WEIGHT_FORMAT(X, q4_0)                                      \
  QUIRE_KERNELS_OF_WEIGHT_FORMAT(X, q4_1)                                      \
  QUIRE_KERNELS_OF_WEIGHT_FORMAT(X, q5_0)                                      \
  QUIRE_KERNELS_OF_WEIGHT_FORMAT(X, q5_1)                                      \
  QUIRE_KERNELS_OF_WEIGHT_FORMAT(X, q8_0)                                      \
  QUIRE_KERNELS_OF_WEIGHT_FORMAT(X, q2_k)                                      \
  QUIRE_KERNELS_OF_WEIGHT_FORMAT(X, q3_k)                                      \
  QUIRE_KERNELS_OF_WEIGHT_FORMAT(X, q4_k)                                      \
  QUIRE_KERNELS_OF_WEIGHT_FORMAT(X, q5_k)                                      \
  QUIRE_KERNELS_OF_WEIGHT_FORMAT(X, q6_k)                                      \
  QUIRE_KERNELS_OF_WEIGHT_FORMAT(X, int8)                                      \
  QUIRE_KERNELS_OF_WEIGHT_FORMAT(X, int4)                                      \
  QUIRE_KERNELS_OF_WEIGHT_FORMAT(X, int4a)

#endif
